export const TEMPLATE_NAMES = [
  'stage_one_system',
  'stage_one_input',
  'consolidation',
  'consolidation_once',
  'read_path',
  'ad_hoc_instructions',
  'repair',
] as const;
export type TemplateName = (typeof TEMPLATE_NAMES)[number];

/** A prompt template with `{{ name }}` placeholders and no logic. */
export interface Template {
  readonly name: TemplateName;
  /** From the comment on the file's first line; recorded in outputs and manifests. */
  readonly version: string;
  /** Without the version comment. */
  readonly text: string;
}

/** Reads the prompt templates (`layers/templates/`). */
export interface TemplateStore {
  /** @throws DefectError `template.missing` or `template.no_version` */
  get(name: TemplateName): Promise<Template>;
}
