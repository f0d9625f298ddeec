/**
 * What can be said without the table of commands, which takes longer to load than Node itself: the first page of help, and the names of
 * commands, for which a shell asks at every Tab.
 */
import { COMMANDS, FIRST_PAGE } from './generated/first-page.ts';

const HELP: readonly string[] = ['--help', '-h', 'help'];

/** Undefined: this takes the table. `name` is how the program was called. */
export function quickAnswer(words: readonly string[], name = 'virtctl'): string | undefined {
  const [first, partial = '', ...more] = words;
  if (first === '__complete' && more.length === 0) return COMMANDS.filter((line) => line.startsWith(partial)).join('');
  if (first !== undefined && (words.length > 1 || !HELP.includes(first))) return undefined;
  return FIRST_PAGE.replaceAll(/^ {2}virtctl /gm, `  ${name} `);
}
