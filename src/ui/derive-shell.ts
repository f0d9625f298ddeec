/** A shell of single commands: each is run by the agent in the guest, in the folder that the one before ended in. Pure. */
import type { ExecResult } from '../api/handler/answers.ts';
import { bytesOfBase64 } from '../base/base64.ts';
import { UNPRINTABLE } from '../base/escape-unprintable.ts';

export type Ran = {
  readonly line: string;
  readonly folder: string;
  readonly output: string;
  readonly errors: string;
  /** Undefined when all went well. */
  readonly ending: string | undefined;
};

export const FIRST_FOLDER = '/';
/** Between what a command prints and the folder that it ends in: a character that no text has. */
const MARK = '\u001e';
const SCRIPT = 'cd "$1" || exit; eval "$2"; code=$?; printf "\\036%s" "$PWD"; exit $code';
/** Lines that are kept on the page. */
const MOST_RAN = 200;

/** What the agent is to run for a line that somebody typed. */
export function commandOfLine(line: string, folder: string): readonly string[] {
  return ['/bin/sh', '-c', SCRIPT, 'sh', folder, line];
}

/** What came of it, and the folder that the next one begins in. Text of the guest: nothing in it is acted on. */
export function readRan({ line, folder }: Pick<Ran, 'line' | 'folder'>, answer: ExecResult): { readonly ran: Ran; readonly next: string } {
  const { exitCode, signal, stdout, stderr, isTruncated = false } = answer;
  const printed = textOf(stdout);
  const at = printed.lastIndexOf(MARK);
  const next = at < 0 ? folder : plain(printed.slice(at + 1)) || folder;
  const ending = [
    ...(signal === undefined ? [] : [`ended by signal ${signal}`]),
    ...(exitCode ? [`exit code ${exitCode}`] : []),
    ...(isTruncated ? ['it printed more than is shown'] : []),
  ].join(', ');
  const output = plain(at < 0 ? printed : printed.slice(0, at));
  return { ran: { line, folder, output, errors: plain(textOf(stderr)), ending: ending || undefined }, next };
}

export function withRan(before: readonly Ran[], ran: Ran): Ran[] {
  return [...before, ran].slice(-MOST_RAN);
}

function textOf(base64: string): string {
  return new TextDecoder().decode(bytesOfBase64(base64));
}

function plain(text: string): string {
  return text.replace(UNPRINTABLE, (character) => (character === '\n' || character === '\t' ? character : ''));
}
