/** Requests in flight at once for one call: well under the 50 sockets of the SDK's agent. */
const WIDTH = 16;

/** Does the work for each item, a few at a time. @returns the answers in the order of the items */
export async function inParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const answers: R[] = [];
  for (let at = 0; at < items.length; at += WIDTH) {
    answers.push(...(await Promise.all(items.slice(at, at + WIDTH).map(work))));
  }
  return answers;
}
