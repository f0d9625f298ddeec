/** A UDP port of a Service: each client has a way of its own to a target, for as long as it has something to say. */
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { framesOf, sendFrame } from './datagram-frames.ts';
import type { OpenListener, OpenListenerOptions } from './open-listener.ts';

type Way = { readonly upstream: UdpSocket; readonly leave: (() => void) | undefined; lastUsed: number };

/** Of a client that has fallen silent nothing is kept for longer. */
const IDLE_MS = 60_000;
/** Clients at once; the one that is silent for longest makes room. */
const MAX_CLIENTS = 1_000;

/** Listens at once; `onError` is told when that cannot be done. */
export function openUdpListener({ host, port, choice, clock, onError, onListening, enter }: OpenListenerOptions): OpenListener {
  const ways = new Map<string, Way>();
  const streams = new Set<Socket>();
  const server = createSocket('udp4');
  let isOpen = true;

  function forget(key: string): void {
    const way = ways.get(key);
    ways.delete(key);
    way?.upstream.close();
    way?.leave?.();
  }

  /** The way of this client, a new one where there is none; undefined for a Service without targets. */
  function wayOf(key: string, client: string, answer: (datagram: Buffer) => void): Way | undefined {
    const known = ways.get(key);
    if (known) {
      ways.delete(key);
      ways.set(key, known); // longest silent first
      known.lastUsed = clock.steady();
      return known;
    }
    const [target] = choice.inTurn(client);
    if (!target || !isOpen) return undefined;
    const leave = enter?.();
    if (enter && !leave) return undefined; // as a network that is full loses datagrams
    choice.chose(client, target);
    const upstream = createSocket('udp4');
    const way = { upstream, leave, lastUsed: clock.steady() };
    upstream.on('message', (datagram) => {
      way.lastUsed = clock.steady();
      answer(datagram);
    });
    upstream.on('error', () => {
      if (ways.get(key) === way) forget(key);
    });
    upstream.connect(target.port, target.host);
    ways.set(key, way);
    makeRoom();
    return way;
  }

  function makeRoom(): void {
    for (const [key, { lastUsed }] of ways) {
      if (ways.size <= MAX_CLIENTS && lastUsed + IDLE_MS > clock.steady()) return;
      forget(key);
    }
  }

  function pass(datagram: Buffer, way: Way | undefined): void {
    if (!way) return;
    const send = () => way.upstream.send(datagram, () => {});
    try {
      way.upstream.remoteAddress(); // throws until the connection is made
      send();
    } catch {
      way.upstream.once('connect', send);
    }
  }

  server.on('message', (datagram, { address, port: from }) => {
    const answer = (text: Buffer) => {
      if (isOpen) server.send(text, from, address, () => {});
    };
    pass(datagram, wayOf(`${address}:${from}`, address, answer));
  });
  server.on('error', onError);
  server.on('listening', onListening);
  server.bind({ port, address: host });
  const sweep = setInterval(makeRoom, IDLE_MS);
  sweep.unref();

  function close(): void {
    if (!isOpen) return;
    isOpen = false;
    clearInterval(sweep);
    for (const key of [...ways.keys()]) forget(key);
    for (const stream of streams) stream.destroy();
    server.close();
  }

  return {
    take: (stream, client) => {
      const key = `stream ${client}`;
      streams.add(stream);
      stream.on('error', () => stream.destroy());
      stream.once('close', () => {
        streams.delete(stream);
        forget(key);
      });
      framesOf(stream, (datagram) =>
        pass(
          datagram,
          wayOf(key, client, (answer) => sendFrame(stream, answer)),
        ),
      );
      stream.resume();
    },
    close,
    destroy: close,
  };
}
