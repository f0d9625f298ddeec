/**
 * Connections that a guest takes at a port. The user network in front of it takes any connection at once and only then asks the guest, so that a
 * connection stands says nothing; QEMU shows how far each has come, and the guest has taken it when it is established on that side, too.
 */
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../base/clock.ts';
import { messageOf } from '../../base/errors.ts';

export type PortQuestion = {
  /** Where the port of the guest is forwarded from. */
  readonly host: string;
  readonly port: number;
  /** What QEMU prints for `info usernet`. */
  readonly connections: () => Promise<string>;
  readonly clock: Clock;
  /** Ends the wait for the guest. */
  readonly signal: AbortSignal;
};

const LOOK_MS = 50;
const SETTLED_LOOKS = 3;
const LINE = /^\s*TCP\[([A-Z_]+)\]\s+(\d+)\s+(\S+)\s+(\d+)\s/gm;
/** CLOSE_WAIT: taken, and already closed by the guest. */
const TAKEN: ReadonlySet<string> = new Set(['ESTABLISHED', 'CLOSE_WAIT']);
const WAITING: ReadonlySet<string> = new Set(['SYN_SENT', 'SYN_RCVD']);

/** Whether it takes one: undefined when it does, else why not. */
export async function checkGuestPort(question: PortQuestion): Promise<string | undefined> {
  try {
    const socket = await connectGuestPort(question);
    socket.resetAndDestroy();
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** A connection that the guest has taken, paused, with all that the guest said; throws when it takes none. */
export async function connectGuestPort({ host, port, connections, clock, signal }: PortQuestion): Promise<Socket> {
  const before = connectionsAt(await connections(), { host, port }).taken;
  const socket = connect({ host, port, allowHalfOpen: true });
  socket.on('error', () => {}); // 'close' follows, and whoever uses it listens for itself
  const stands = new Promise((resolve) => socket.once('connect', resolve));
  const heard = Promise.withResolvers<void>();
  const onError = (error: Error) => heard.reject(error);
  const onEnd = () => heard.reject(new Error('the guest refused the connection'));
  const onData = (bytes: Buffer) => {
    socket.pause().unshift(bytes); // nobody but the guest says anything
    heard.resolve();
  };
  const onAbort = () => heard.reject(new Error('the guest does not answer'));
  socket.once('error', onError).once('end', onEnd).once('close', onEnd).once('data', onData);
  signal.addEventListener('abort', onAbort, { once: true });
  const over = new AbortController();
  const looked = seen();
  looked.catch(() => {}); // whoever comes second is not heard
  heard.promise.catch(() => {});
  try {
    await Promise.race([heard.promise, looked]);
    socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onError);
    return socket.pause();
  } catch (error) {
    socket.resetAndDestroy();
    throw error;
  } finally {
    over.abort();
    signal.removeEventListener('abort', onAbort);
  }

  /**
   * A new number is a connection that the guest has taken. The number of one that ended meanwhile is used again: then the guest has taken ours when
   * three looks in a row show some that are taken and none that waits, as what is refused has ended.
   */
  async function seen(): Promise<void> {
    if (signal.aborted) onAbort();
    await stands;
    for (let settled = 0; !over.signal.aborted && !signal.aborted; ) {
      const { taken, waiting } = connectionsAt(await connections(), { host, port });
      if ([...taken].some((each) => !before.has(each))) return;
      settled = taken.size > 0 && waiting === 0 ? settled + 1 : 0;
      if (settled === SETTLED_LOOKS) return;
      await clock.sleep(LOOK_MS, AbortSignal.any([over.signal, signal]));
    }
    await heard.promise;
  }
}

/** What QEMU shows for a forward: by its number each connection that the guest has taken, and how many it has yet to answer. */
export function connectionsAt(
  text: string,
  { host, port }: Pick<PortQuestion, 'host' | 'port'>,
): { readonly taken: ReadonlySet<string>; readonly waiting: number } {
  const lines = [...text.matchAll(LINE)].filter(([, , , address, from]) => address === host && Number(from) === port);
  const taken = lines.filter(([, state = '']) => TAKEN.has(state)).map(([, , number = '']) => number);
  return { taken: new Set(taken), waiting: lines.filter(([, state = '']) => WAITING.has(state)).length };
}
