import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DefectError } from '../../core/errors.ts';
import { parseTemplate } from '../../core/extraction/parse-template.ts';
import type { Template, TemplateName, TemplateStore } from '../../core/ports/template-store.ts';

/** Templates as Markdown files `<name>.md` in one folder, read once each. */
export class FilesTemplateStore implements TemplateStore {
  readonly #folder: string;
  readonly #read = new Map<TemplateName, Promise<Template>>();

  /** @param folder such as `layers/templates` */
  constructor(folder: string) {
    this.#folder = folder;
  }

  get(name: TemplateName): Promise<Template> {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    const reading = this.#readFile(name);
    this.#read.set(name, reading);
    reading.catch(() => this.#read.delete(name)); // a later call may find the file in place
    return reading;
  }

  async #readFile(name: TemplateName): Promise<Template> {
    const path = join(this.#folder, `${name}.md`);
    const source = await readFile(path, 'utf8').catch((cause: unknown) => {
      throw new DefectError('template.missing', `template ${name}: cannot read ${name}.md in the templates folder`, {
        details: { template: name },
        cause,
      });
    });
    return parseTemplate(name, source);
  }
}
