import { isPlaceholder } from './secret-rules.ts';

/** Words that stand for a kind of value, never for one. */
const TYPE_WORD =
  /^(?:string|boolean|number|object|unknown|undefined|optional|required|nullable|password|redacted|omitted|disabled|enabled|(?:Uint8|Int8)Array|ArrayBuffer|same-origin|text\/plain)[,;|?)\]}>]*$/i;

/** A name of a variable that holds a secret, such as `userPassword` or `api_key`. */
export function isVariable(value: string): boolean {
  return /^[A-Za-z_]+$/.test(value) && /key|token|secret|passw/i.test(value) && /[a-z][A-Z]|_/.test(value);
}

/** How a value stands in its text. */
export type ValueForm = 'quoted' | 'shell' | 'code';

/** A value that only refers to a secret: a placeholder, the name of a variable, a type, code that fetches it. */
export function isReference(value: string, form: ValueForm): boolean {
  if (isPlaceholder(value) || TYPE_WORD.test(value) || isCodeReference(value)) return true;
  if (/^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value) && /KEY|TOKEN|SECRET|PASS/.test(value)) return true;
  if (form !== 'code') return false;
  const member = /^[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$]+)+[([]?$/.test(value) && !/\d/.test(value);
  return member || /^[A-Za-z_$][\w$.:]*[([<]/.test(value);
}

/** Code that reads a secret from elsewhere. */
export function isCodeReference(value: string): boolean {
  return /^(?:process\.env|import\.meta|os\.(?:environ|getenv)|env[.[(]|ENV\[|std::env|System\.getenv|Deno\.env|getenv\(|secrets\.|self\.|this\.)/.test(
    value,
  );
}
