import { DefectError } from '../errors.ts';
import type { Template, TemplateName } from '../ports/template-store.ts';

const VERSION_LINE = /^<!-- stillroom template: (\w+), version: ([\w.-]+) -->\r?\n/;

/**
 * Reads a template from the text of its file, as every adapter of TemplateStore does: the first line names the template and
 * its version, the rest is what the model is told.
 * @throws DefectError `template.no_version` when the first line is no such comment, or names another template
 */
export function parseTemplate(name: TemplateName, source: string): Template {
  const match = VERSION_LINE.exec(source);
  const version = match?.[2];
  if (match === null || version === undefined || match[1] !== name) {
    throw new DefectError(
      'template.no_version',
      `template ${name}: the first line must be <!-- stillroom template: ${name}, version: N -->`,
      { details: { template: name } },
    );
  }
  return { name, version, text: source.slice(match[0].length) };
}
