/** All texts of a rollout, however deeply they are wrapped in JSON. */
export function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value, ...unwrap(value)];
  if (typeof value !== 'object' || value === null) return [];
  return [...Object.keys(value), ...Object.values(value).flatMap(textsOf)];
}

/** JSON in a string, and the string literals of a code-mode program. */
function unwrap(text: string): string[] {
  const program = /exec_command\((\{.*\})\)/.exec(text)?.[1];
  for (const json of [text, program ?? '']) {
    if (!json.startsWith('{')) continue;
    try {
      return textsOf(JSON.parse(json));
    } catch {} // prose or code that only looks like JSON
  }
  return [];
}

/** Everything that the records of a file say, line by line; lines that are no JSON count as they are. */
export function sourceText(files: readonly string[]): string {
  return files.flatMap((file) => file.split('\n').flatMap(textsOfLine)).join('\n');
}

function textsOfLine(line: string): string[] {
  try {
    return textsOf(JSON.parse(line));
  } catch {
    return [line]; // a torn or a glued line
  }
}

/** Quotes, commands, paths and error lines that a text claims. */
export function claimsOf(text: string): string[] {
  const codes = [...text.matchAll(/(?<!`)(`{1,2})(?!`)(.+?)\1(?!`)/g)].map((match) => match[2] ?? '');
  const quotes = [...text.matchAll(/(?:^|: |- |wrote |before: |rejected: )"(.+?)"(?= |$|;|\))/gm)].map(
    (match) => match[1] ?? '',
  );
  return [...codes, ...quotes];
}
