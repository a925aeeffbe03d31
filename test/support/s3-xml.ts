const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** `<name>value</name>`, or nothing for a value that is not there. */
export function xmlElement(name: string, value: string | number | boolean | undefined): string {
  if (value === undefined) return '';
  return `<${name}>${String(value).replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)}</${name}>`;
}

/** The contents of every element of a name, in order; the text of those without children is unescaped. */
export function xmlTexts(text: string, name: string): readonly string[] {
  return [...text.matchAll(new RegExp(`<${name}>([^]*?)</${name}>`, 'g'))].map(([, content = '']) =>
    content.includes('<') ? content : unescapeXml(content),
  );
}

function unescapeXml(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]+)|#(\d+)|(\w+));/gi, (whole, hex, decimal, name) => {
    if (hex !== undefined) return String.fromCodePoint(Number.parseInt(hex, 16));
    if (decimal !== undefined) return String.fromCodePoint(Number(decimal));
    return ENTITIES[name] ?? whole;
  });
}
