/**
 * `virtctl shell -- uptime` names a program and `virtctl shell uptime` a machine, so the command has to see the `--`; so does `virtctl run`. The library of the command
 * line takes the first one away: where it matters there are two.
 */
const COMMANDS: readonly string[] = ['shell', 'run'];

/** The command line as the library gets it. */
export function keepSeparator(words: readonly string[]): readonly string[] {
  const at = COMMANDS.includes(words[0] ?? '') ? words.indexOf('--') : -1;
  return at < 0 ? words : [...words.slice(0, at), '--', ...words.slice(at)];
}
