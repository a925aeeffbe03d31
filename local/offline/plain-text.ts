import { isCommand } from '../../core/consolidation/find-commands.ts';
import { defuseMarkup } from '../../core/consolidation/find-markup.ts';
import { stripHidden } from '../../core/consolidation/hidden-characters.ts';

/** Text of a session as the gates let it into a memory: without hidden characters, its markup made plain. */
export function plainText(text: string): string {
  return defuseMarkup(stripHidden(text));
}

/** The same; undefined where it would command whoever reads it. The rules cannot tell why somebody wrote that, so it is left out. */
export function harmlessText(text: string): string | undefined {
  const plain = plainText(text);
  return isCommand(plain) ? undefined : plain;
}
