/**
 * Reads a transcript: a session at a terminal as text, which people read and a program replays.
 *
 *     # words for the reader
 *     === vm.yaml                  a file in the folder of the session, up to a line of `===`
 *     $ kubectl get vms            a command; `> ` goes on with it in the next line
 *     NAME  AGE  STATUS            what it has to print, up to the next line that starts with `$ `, `# `, `=== ` or `(within `
 *     (exit 1)                     its exit code, when it is not 0
 *     (within 60s)                 the command below is repeated until it prints what it has to, at most for so long
 *
 * `match-output.ts` says what may stand in the expected lines.
 */

export type CommandStep = {
  readonly do: 'run';
  /** Line of the transcript, from 1. */
  readonly line: number;
  readonly command: string;
  readonly expected: readonly string[];
  readonly exitCode: number;
  readonly withinMs?: number;
};
export type FileStep = { readonly do: 'write'; readonly line: number; readonly name: string; readonly content: string };
export type Step = CommandStep | FileStep;

const FILE = /^=== (\S+)$/;
const WITHIN = /^\(within (\d+)s\)$/;
const EXIT = /^\(exit (\d+)\)$/;
const ENDS_OUTPUT = /^(\$ |# |#$|=== |\(within )/;

/** The steps of a transcript in their order; throws with the line that cannot be read. */
export function parseTranscript(text: string): Step[] {
  const lines = text.split('\n');
  const steps: Step[] = [];
  let withinMs: number | undefined;
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? '';
    const within = WITHIN.exec(line);
    if (withinMs !== undefined && !line.startsWith('$ ')) throw unreadable(at, 'a command has to follow (within ...)');
    if (line === '' || line === '#' || line.startsWith('# ')) at += 1;
    else if (FILE.test(line)) at = readFile(lines, at, steps);
    else if (within) {
      withinMs = Number(within[1]) * 1000;
      at += 1;
    } else if (line.startsWith('$ ')) {
      at = readCommand({ lines, at, withinMs, steps });
      withinMs = undefined;
    } else throw unreadable(at, `neither a command nor the output of one: ${line}`);
  }
  if (withinMs !== undefined) throw unreadable(at - 1, 'a command has to follow (within ...)');
  return steps;
}

function readFile(lines: readonly string[], at: number, steps: Step[]): number {
  const name = FILE.exec(lines[at] ?? '')?.[1] ?? '';
  if (name.includes('/')) throw unreadable(at, `${name} has to be in the folder of the session`);
  const end = lines.indexOf('===', at);
  if (end < 0) throw unreadable(at, `the file ${name} does not end`);
  steps.push({ do: 'write', line: at + 1, name, content: `${lines.slice(at + 1, end).join('\n')}\n` });
  return end + 1;
}

type Reading = { readonly lines: readonly string[]; readonly at: number; readonly withinMs: number | undefined; readonly steps: Step[] };

function readCommand({ lines, at, withinMs, steps }: Reading): number {
  const end = firstAfter(lines, at, (line) => !line.startsWith('> '));
  const command = lines.slice(at, end).map((line) => line.slice(2));
  const next = firstAfter(lines, end - 1, (line) => ENDS_OUTPUT.test(line));
  const output = lines.slice(end, next);
  while (output.at(-1) === '') output.pop();
  const exit = EXIT.exec(output.at(-1) ?? '');
  if (exit) output.pop();
  steps.push({
    do: 'run',
    line: at + 1,
    command: command.join('\n'),
    expected: output,
    exitCode: Number(exit?.[1] ?? 0),
    ...(withinMs !== undefined && { withinMs }),
  });
  return next;
}

function firstAfter(lines: readonly string[], at: number, isIt: (line: string) => boolean): number {
  const found = lines.findIndex((line, index) => index > at && isIt(line));
  return found < 0 ? lines.length : found;
}

function unreadable(index: number, why: string): Error {
  return new Error(`line ${index + 1}: ${why}`);
}
