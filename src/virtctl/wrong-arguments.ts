/** Where nothing better is known. */
export const HELP_SAYS = 'the same command with --help says what it takes';

/** How the library says it, and how people do. */
const OURS: readonly (readonly [theirs: RegExp, ours: string])[] = [
  [/^No alias registered for /, 'unknown flag '],
  [/^Expected input for flag (\S+)$/, '$1 is missing, or what it is to be'],
  [/^Expected argument for (.+)$/, '$1 is missing'],
  [/^Expected at least 1 argument\(s\) for (.+) but found none$/, '$1 is missing'],
  [/^Too many arguments, expected \d+ but encountered (".*")$/s, '$1 is one argument too many'],
];

/** What the library says of arguments that do not fit, in the form of every other error. Pure. */
export function wrongArguments(said: string): string {
  const { what = said, meant } = /^(?<what>[\s\S]*?)(?:, (?<meant>did you mean [\s\S]*))?$/.exec(said)?.groups ?? {};
  const words = OURS.reduce((text, [theirs, ours]) => text.replace(theirs, ours), what);
  return `error[USAGE]: ${words.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase())}\nfix: ${meant ?? HELP_SAYS}`;
}
