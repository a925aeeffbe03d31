import { describe, expect, it } from 'vitest';
import type { TemplateName, TemplateStore } from '../../core/ports/template-store.ts';

type Sources = Readonly<Partial<Record<TemplateName, string>>>;

/** What every TemplateStore holds to. `open` gives a store over the given file texts. */
export function templateStoreContract(adapter: string, open: (sources: Sources) => Promise<TemplateStore>): void {
  const head = (name: string, version: string): string => `<!-- stillroom template: ${name}, version: ${version} -->\n`;

  describe(`TemplateStore: ${adapter}`, () => {
    it('gives the version of the first line and the text without it', async () => {
      const store = await open({ repair: `${head('repair', '3')}Fix:\n{{ faults }}\n` });
      expect(await store.get('repair')).toEqual({ name: 'repair', version: '3', text: 'Fix:\n{{ faults }}\n' });
      expect(await store.get('repair')).toEqual({ name: 'repair', version: '3', text: 'Fix:\n{{ faults }}\n' });
    });

    it('keeps white space, fences and non-ASCII text as they are', async () => {
      const text = '\n  indented\n\n```\ncode é 中\n```\n\n';
      const store = await open({ read_path: head('read_path', '1') + text });
      expect((await store.get('read_path')).text).toBe(text);
    });

    it('fails with template.missing for a template that is not there', async () => {
      const store = await open({});
      await expect(store.get('repair')).rejects.toMatchObject({ code: 'template.missing', kind: 'defect' });
    });

    it.each([
      ['no comment at all', 'Fix:\n'],
      ['a comment on the second line', `\n${head('repair', '1')}Fix:\n`],
      ['no version', '<!-- stillroom template: repair -->\nFix:\n'],
      ['the name of another template', `${head('read_path', '1')}Fix:\n`],
    ])('fails with template.no_version: %s', async (_case, source) => {
      const store = await open({ repair: source });
      await expect(store.get('repair')).rejects.toMatchObject({ code: 'template.no_version' });
    });
  });
}
