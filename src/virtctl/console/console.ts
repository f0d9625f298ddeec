/** The serial console of a guest on this terminal. */
import type { Clock } from '../../base/clock.ts';
import type { ClusterDeps, ConsoleStream, Input, Output } from '../deps.ts';

const CTRL_RIGHT_BRACKET = 29;
const CTRL_T = 20;

/** Connects, and copies both ways until the user leaves, the input ends or the other side does. */
export async function showConsole({ namespace, openConsole, stdin, stdout, stderr, clock }: ClusterDeps, name: string): Promise<void> {
  const turn = { isMine: true };
  const onTurn = (isMine: boolean) => {
    if (isMine === turn.isMine) return;
    turn.isMine = isMine;
    stderr.write(isMine ? '\r\n(you type again)\r\n' : '\r\n(somebody else types now; Ctrl+T takes over, Ctrl+] leaves)\r\n');
  };
  const onMoved = () => void stderr.write(`\r\n(${name} continues at another node)\r\n`);
  const stream = await openConsole({ namespace, name, isShared: true, onTurn, onMoved });
  stderr.write(`Connected to the console of ${name}. Leave it with Ctrl+]. Press Enter for a prompt.\n`);
  const ending = await attach(stream, { stdin, stdout, clock, turn });
  stderr.write(ENDINGS[ending](name));
}

type Ending = 'left' | 'input ended' | 'closed';
type Terminal = {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly clock: Clock;
  readonly turn: { readonly isMine: boolean };
};

const ENDINGS: Readonly<Record<Ending, (name: string) => string>> = {
  left: () => '\n',
  'input ended': (name) => `\nThe input has ended: left the console of ${name}. virtctl logs ${name} -f keeps showing it.\n`,
  closed: (name) => `\nThe console of ${name} was closed by the other side.\n`,
};
/** Who has nothing more to say gets the answer to the last words: until the guest was silent for so long, and no longer than that. */
const SILENCE_MS = 1000;
const LAST_WORDS_MS = 10_000;

/** Copies both ways until Ctrl+], until there is no more input and its answer was heard, or until the other side ends. */
async function attach(stream: ConsoleStream, { stdin, stdout, clock, turn }: Terminal): Promise<Ending> {
  let ending: Ending = 'closed';
  let heardAtMs = clock.steady();
  const left = new AbortController();
  const leave = (how: Ending) => {
    if (ending === 'closed') ending = how;
    stream.close();
  };
  const onInput = (bytes: Buffer) => {
    const end = bytes.indexOf(CTRL_RIGHT_BRACKET);
    if (!turn.isMine && bytes.includes(CTRL_T)) stream.takeOver();
    else if (end !== 0) stream.write(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) leave('left');
  };
  const onEnd = async () => {
    const endedAtMs = clock.steady();
    heardAtMs = endedAtMs;
    for (let waitMs = SILENCE_MS; waitMs > 0 && !left.signal.aborted; ) {
      await clock.sleep(waitMs, left.signal);
      waitMs = Math.min(heardAtMs + SILENCE_MS, endedAtMs + LAST_WORDS_MS) - clock.steady();
    }
    leave('input ended');
  };
  if (stdin.isTTY) stdin.setRawMode?.(true);
  stdin.on('data', onInput);
  stdin.once('end', onEnd);
  if (stdin.readableEnded) void onEnd();
  try {
    for await (const chunk of stream.output) {
      heardAtMs = clock.steady();
      stdout.write(chunk);
    }
  } finally {
    left.abort();
    stdin.off('data', onInput);
    stdin.off('end', onEnd);
    if (stdin.isTTY) stdin.setRawMode?.(false);
    stdin.pause();
  }
  return ending;
}
