/**
 * Whether a guest takes connections at a port. The user network in front of it takes any connection at once and only then asks the guest, so
 * that a connection stands says nothing; QEMU shows how far each has come, and the guest has taken it when it is established on that side, too.
 */
import { connect } from 'node:net';
import type { Clock } from '../../base/clock.ts';

export type PortQuestion = {
  /** Where the port of the guest is forwarded from. */
  readonly host: string;
  readonly port: number;
  /** What QEMU prints for `info usernet`. */
  readonly connections: () => Promise<string>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
};

const LOOK_MS = 50;
/** CLOSE_WAIT: taken, and already closed by the guest. */
const LINE = /^\s*TCP\[(?:ESTABLISHED|CLOSE_WAIT)\]\s+(\d+)\s+(\S+)\s+(\d+)\s/gm;

/** Undefined when it does, else why not. */
export async function checkGuestPort({ host, port, connections, clock, signal }: PortQuestion): Promise<string | undefined> {
  const before = takenAt(await connections(), { host, port });
  const socket = connect({ host, port, signal });
  const heard = Promise.withResolvers<string | undefined>();
  socket.on('error', (error) => heard.resolve(error.message));
  socket.once('data', () => heard.resolve(undefined)); // nobody but the guest says anything
  socket.once('close', () => heard.resolve('the guest refused the connection'));
  const over = new AbortController();
  try {
    return await Promise.race([heard.promise, seen()]);
  } finally {
    over.abort();
    socket.resetAndDestroy();
  }

  async function seen(): Promise<string | undefined> {
    while (!over.signal.aborted && !signal.aborted) {
      const taken = takenAt(await connections(), { host, port });
      if ([...taken].some((each) => !before.has(each))) return undefined;
      await clock.sleep(LOOK_MS, AbortSignal.any([over.signal, signal]));
    }
    return 'the guest does not answer';
  }
}

/** The connections that the guest has taken at this forward, by QEMU's number for each. */
export function takenAt(text: string, { host, port }: Pick<PortQuestion, 'host' | 'port'>): ReadonlySet<string> {
  const lines = [...text.matchAll(LINE)].filter(([, , address, from]) => address === host && Number(from) === port);
  return new Set(lines.map(([, number = '']) => number));
}
