/** What the library says of arguments that do not fit, in the form of every other error. Pure. */
export function wrongArguments(said: string): string {
  const { what = said, meant } = /^(?<what>[\s\S]*?)(?:, (?<meant>did you mean [\s\S]*))?$/.exec(said)?.groups ?? {};
  const words = what.replace(/^No flag registered for /, 'unknown flag ');
  return `error[USAGE]: ${words.charAt(0).toLowerCase()}${words.slice(1)}\nfix: ${meant ?? 'the same command with --help says what it takes'}`;
}
