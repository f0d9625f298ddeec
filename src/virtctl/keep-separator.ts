/**
 * Where the words of a guest's program begin. `virtctl shell -- uptime` names a program and `virtctl shell uptime` a machine, so the command has to see
 * the `--`; so does `virtctl run`. The library of the command line takes the first one away: where it matters there are two. And `virtctl ssh NAME ls -l`
 * is what ssh itself takes: behind the machine everything is the program's. Pure.
 */
const KEPT: readonly string[] = ['shell', 'run'];
/** Flags of `virtctl ssh` without a value; all others have one. */
const WITHOUT_VALUE: readonly string[] = ['-h', '--help', '--help-all'];

/** The command line as the library gets it. */
export function keepSeparator(words: readonly string[]): readonly string[] {
  const separator = words.indexOf('--');
  if (KEPT.includes(words[0] ?? '') && separator >= 0) return [...words.slice(0, separator), '--', ...words.slice(separator)];
  const program = words[0] === 'ssh' && separator < 0 ? programOf(words) : -1;
  return program < 0 ? words : [...words.slice(0, program), '--', ...words.slice(program)];
}

/** Where the second word stands that is neither a flag nor the value of one; -1 when there is none. */
function programOf(words: readonly string[]): number {
  let found = 0;
  for (let at = 1; at < words.length; at += 1) {
    const word = words[at] ?? '';
    if (!word.startsWith('-')) found += 1;
    else if (!word.includes('=') && !WITHOUT_VALUE.includes(word)) at += 1;
    if (found === 2) return at;
  }
  return -1;
}
