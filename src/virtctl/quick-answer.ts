/**
 * What can be said without the table of commands, which takes longer to load than Node itself: the first page of help where there are no
 * colours, and the names of commands, for which a shell asks at every Tab.
 */
import { COMMANDS, FIRST_PAGE } from './generated/first-page.ts';

/** Undefined: this takes the table. */
export function quickAnswer(words: readonly string[], isPlain: () => boolean): string | undefined {
  const [first, partial = '', ...more] = words;
  if (first === '__complete' && more.length === 0) return COMMANDS.filter((line) => line.startsWith(partial)).join('');
  if (first === '--help' && words.length === 1 && isPlain()) return FIRST_PAGE;
  return undefined;
}
