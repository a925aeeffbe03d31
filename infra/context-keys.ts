/** Of CDK itself, kept in the same file: feature flags, `aws:cdk:…`, and what it looked up (`availability-zones:account=…`). */
const CDK_OWN = /^(@|aws:|cdk|cli-telemetry$|acknowledged-issue-numbers$)|:/;

/**
 * Keys of the context that nobody reads: a value with its name misspelt would otherwise count as not given.
 * @param given every key of the context
 * @param known the keys that mean something here
 * @returns one line a key, with the known name that is nearest where one is near
 */
export function unknownKeys(given: readonly string[], known: readonly string[]): readonly string[] {
  return given
    .filter((key) => !known.includes(key) && !CDK_OWN.test(key))
    .map((key) => {
      const near = nearest(key, known);
      return `context ${key}: not known${near === undefined ? '; docs/deploy.md lists the keys' : `; do you mean ${near}?`}`;
    });
}

/** A shorter piece of a name stands in too many of them. */
const TELLING_LENGTH = 6;

/** @returns undefined where more than a third of the key is other than that of every name */
function nearest(key: string, known: readonly string[]): string | undefined {
  const wanted = plain(key);
  const longer = known.find((name) => wanted.length >= TELLING_LENGTH && plain(name).includes(wanted));
  if (longer !== undefined) return longer;
  const [first] = known
    .map((name) => ({ name, steps: distance(wanted, plain(name)) }))
    .sort((one, other) => one.steps - other.steps);
  return first && first.steps <= Math.ceil(wanted.length / 3) ? first.name : undefined;
}

/** `kmsKeyArn`, `kms_key_arn` and `KMS-KEY-ARN` are one. */
function plain(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}

/** Characters to put in, take out or change, one row of the table at a time. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, place) => place);
  for (const [at, letter] of [...from].entries()) {
    const next = [at + 1];
    for (const [place, other] of [...to].entries()) {
      const changed = (row[place] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(changed, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
