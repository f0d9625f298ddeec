/** A guest's serial console on this terminal. */
import type { ConsoleStream } from '../console-stream.ts';
import type { ClusterDeps, Input, Output } from '../deps.ts';

const CTRL_RIGHT_BRACKET = 29;
const CTRL_T = 20;

/** Connects, and copies both ways until the user leaves or the other side ends. */
export async function showConsole({ namespace, openConsole, stdin, stdout, stderr }: ClusterDeps, name: string): Promise<void> {
  const turn = { isMine: true };
  const onTurn = (isMine: boolean) => {
    if (isMine === turn.isMine) return;
    turn.isMine = isMine;
    stderr.write(isMine ? '\r\n(you type again)\r\n' : '\r\n(somebody else types now; Ctrl+T takes over, Ctrl+] leaves)\r\n');
  };
  const stream = await openConsole({ namespace, name, isShared: true, onTurn });
  stderr.write(`Connected to the console of ${name}. Leave it with Ctrl+]. Press Enter for a prompt.\n`);
  const isLeft = await attach(stream, { stdin, stdout, turn });
  stderr.write(isLeft ? '\n' : `\nThe console of ${name} was closed by the other side.\n`);
}

type Terminal = { readonly stdin: Input; readonly stdout: Output; readonly turn: { readonly isMine: boolean } };

/** Copies both ways until Ctrl+] (true) or until the other side ends (false). */
async function attach(stream: ConsoleStream, { stdin, stdout, turn }: Terminal): Promise<boolean> {
  let isLeft = false;
  const onInput = (bytes: Buffer) => {
    const end = bytes.indexOf(CTRL_RIGHT_BRACKET);
    if (!turn.isMine && bytes.includes(CTRL_T)) stream.takeOver();
    else if (end !== 0) stream.write(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) {
      isLeft = true;
      stream.close();
    }
  };
  if (stdin.isTTY) stdin.setRawMode?.(true);
  stdin.on('data', onInput);
  try {
    for await (const chunk of stream.output) stdout.write(chunk);
  } finally {
    stdin.off('data', onInput);
    if (stdin.isTTY) stdin.setRawMode?.(false);
    stdin.pause();
  }
  return isLeft;
}
