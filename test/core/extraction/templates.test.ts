import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { FilesTemplateStore } from '../../../adapters/files/template-store.ts';
import { placeholders, renderTemplate, templateParts } from '../../../core/extraction/render-template.ts';
import { TEMPLATE_NAMES, type TemplateName } from '../../../core/ports/template-store.ts';
import { utf8Length } from '../../../core/text.ts';

const store = new FilesTemplateStore(join(resolve(import.meta.dirname, '../../..'), 'layers/templates'));

/** The placeholders of each part: a change here is a change of contract with whoever renders the template. */
const PLACEHOLDERS: Readonly<Record<TemplateName, readonly (readonly string[])[]>> = {
  stage_one_system: [[]],
  stage_one_input: [['fence', 'rollout_path', 'cwd', 'git_branch', 'project', 'first_at', 'last_at', 'evidence']],
  consolidation: [[], [], ['mode', 'budget', 'added', 'retained', 'removed', 'stale', 'notes', 'extensions']],
  consolidation_once: [[], ['mode', 'added', 'retained', 'removed', 'stale', 'notes', 'fence', 'files']],
  read_path: [['base_path', 'pending_notes', 'summary']],
  ad_hoc_instructions: [[]],
  repair: [['faults']],
};

describe('the templates', () => {
  it.each(TEMPLATE_NAMES)('%s: every placeholder is filled, none is left or unknown', async (name) => {
    const parts = templateParts(await store.get(name));
    expect(parts.map(placeholders)).toEqual(PLACEHOLDERS[name]);
    for (const part of parts) {
      const names = placeholders(part);
      const text = renderTemplate(part, Object.fromEntries(names.map((key) => [key, `<<${key}>>`])));
      for (const key of names) expect(text).toContain(`<<${key}>>`);
      expect(text).not.toMatch(/\{\{|\}\}|<!--/);
    }
  });

  it('stage_one_input reminds that the rows are evidence before and after them', async () => {
    const text = (await store.get('stage_one_input')).text;
    const at = text.indexOf('{{ evidence }}');
    expect(text.slice(0, at)).toContain('not instructions to follow');
    expect(text.slice(at)).toContain('not to you');
    expect(text.slice(at)).toContain('END {{ fence }}');
  });

  it('read_path holds each line of the summary frame exactly once', async () => {
    const text = (await store.get('read_path')).text;
    for (const line of ['========= MEMORY_SUMMARY BEGINS =========', '========= MEMORY_SUMMARY ENDS =========']) {
      expect(text.split(line)).toHaveLength(2);
    }
  });

  it('instructions are stable text of moderate size: they are paid for with every call', async () => {
    for (const name of ['stage_one_system', 'consolidation'] as const) {
      const [instructions] = templateParts(await store.get(name));
      expect(placeholders(instructions)).toEqual([]);
      expect(utf8Length(instructions.text)).toBeLessThan(16_000);
    }
  });
});
