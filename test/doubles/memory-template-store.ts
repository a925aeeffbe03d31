import { DefectError } from '../../core/errors.ts';
import { parseTemplate } from '../../core/extraction/parse-template.ts';
import type { Template, TemplateName, TemplateStore } from '../../core/ports/template-store.ts';

/** Templates held in memory, given as the texts of their files. */
export class MemoryTemplateStore implements TemplateStore {
  readonly #sources: Readonly<Partial<Record<TemplateName, string>>>;

  constructor(sources: Readonly<Partial<Record<TemplateName, string>>>) {
    this.#sources = sources;
  }

  async get(name: TemplateName): Promise<Template> {
    const source = this.#sources[name];
    if (source === undefined) throw new DefectError('template.missing', `template ${name}: not in memory`);
    return parseTemplate(name, source);
  }
}
