import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chooseFence, placeholders, renderTemplate, templateParts } from '../../../core/extraction/render-template.ts';
import type { Template } from '../../../core/ports/template-store.ts';

function template(text: string): Template {
  return { name: 'repair', version: '1', text };
}

describe('renderTemplate', () => {
  it('puts values in as they are: no escaping, no second pass, no replacement patterns', () => {
    const value = '<b>&"\'`/= {{ other }} $& $1 \u2028 é';
    expect(renderTemplate(template('a {{ x }} b {{x}}\n'), { x: value })).toBe(`a ${value} b ${value}\n`);
  });

  it('keeps a value of any text whole', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (value) => {
        expect(renderTemplate(template('[{{ x }}]'), { x: value })).toBe(`[${value}]`);
      }),
    );
  });

  it('fails when a placeholder has no value', () => {
    expect(() => renderTemplate(template('{{ x }} {{ y }}'), { x: '' })).toThrow(
      expect.objectContaining({ code: 'template.unknown_placeholder' }),
    );
    expect(() => renderTemplate(template('{{ constructor }}'), {})).toThrow(
      expect.objectContaining({ code: 'template.unknown_placeholder' }),
    );
  });

  it('fails when a value has no placeholder', () => {
    expect(() => renderTemplate(template('{{ x }}'), { x: '', z: '' })).toThrow(
      expect.objectContaining({ code: 'template.unused_value' }),
    );
  });

  it.each(['{{#x}}a{{/x}}', '{{^x}}a{{/x}}', '{{> x}}', '{{! x}}', '{{{ x }}}', '{{& x}}', '{{ a.b }}', '{{ X }}'])(
    'refuses anything but plain placeholders: %s',
    (text) => {
      expect(() => placeholders(template(text))).toThrow(expect.objectContaining({ code: 'template.has_logic' }));
    },
  );
});

describe('templateParts', () => {
  it('splits at the marker lines, which belong to neither part', () => {
    const parts = templateParts(template('one\n\n<!-- part: run -->\ntwo {{ x }}\n'));
    expect(parts.map((part) => part.text)).toEqual(['one\n', 'two {{ x }}\n']);
  });

  it('gives a template without markers whole', () => {
    expect(templateParts(template('one\n')).map((part) => part.text)).toEqual(['one\n']);
  });
});

describe('chooseFence', () => {
  it('is equal for equal contents and differs with the content', () => {
    expect(chooseFence(['a', 'b'])).toBe(chooseFence(['a', 'b']));
    expect(chooseFence(['a', 'b'])).not.toBe(chooseFence(['ab']));
  });

  it('does not occur in the contents', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), (contents) => {
        const fence = chooseFence(contents);
        expect(contents.some((content) => content.includes(fence))).toBe(false);
      }),
    );
  });
});
