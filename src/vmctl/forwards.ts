/** Listens at the Pod's address on every port that is wanted and hands each connection to the machine. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import type { GuestConnection } from './guest-port.ts';

type PodPortForwardsOptions = {
  readonly address: string;
  /** Connects to a port of the machine; waits for a machine that is not ready yet. */
  readonly open: (port: number) => Promise<GuestConnection>;
  readonly log: Logger;
};

export class PodPortForwards {
  readonly #options: PodPortForwardsOptions;
  readonly #servers = new Map<number, Server>();
  readonly #sockets = new Set<Socket>();
  readonly #failures = new Map<number, string>();

  constructor(options: PodPortForwardsOptions) {
    this.#options = options;
  }

  /** Why a wanted port is not served, for each that is not. */
  get failures(): readonly string[] {
    return [...this.#failures.values()];
  }

  /** Opens what is wanted and not open, closes what no longer is; connections that stand go on. Repeat it to try again what failed. */
  async keep(wanted: readonly number[]): Promise<void> {
    for (const [port, server] of this.#servers) {
      if (wanted.includes(port)) continue;
      server.close();
      this.#servers.delete(port);
      this.#options.log.info('no longer forwarding', { port, because: 'no Service sends connections there' });
    }
    for (const port of this.#failures.keys()) if (!wanted.includes(port)) this.#failures.delete(port);
    for (const port of wanted) if (!this.#servers.has(port)) await this.#listen(port);
  }

  close(): void {
    for (const server of this.#servers.values()) server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #listen(port: number): Promise<void> {
    const { address, log } = this.#options;
    const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) => this.#serve(socket, port));
    try {
      server.listen(port, address);
      await once(server, 'listening');
      this.#servers.set(port, server);
      this.#failures.delete(port);
      log.info('forwarding', { port, because: 'a Service sends connections to this port of the Pod' });
    } catch (error) {
      const failure = `cannot listen on ${address}:${port}: ${messageOf(error)}`;
      if (this.#failures.get(port) !== failure) log.error(failure);
      this.#failures.set(port, failure);
    }
  }

  #serve(socket: Socket, port: number): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket)).on('error', () => socket.destroy());
    this.#options.open(port).then(
      (guest) => join(socket, guest),
      (error: unknown) => {
        this.#options.log.warn('cannot forward a connection', { port, error: messageOf(error) });
        socket.destroy();
      },
    );
  }
}

function join(socket: Socket, { stream, canHalfClose }: GuestConnection): void {
  stream.on('error', () => socket.destroy());
  stream.on('close', () => socket.end());
  socket.on('close', () => stream.destroy());
  if (socket.destroyed) {
    stream.destroy(); // the client has left while we were connecting
    return;
  }
  socket.pipe(stream, { end: canHalfClose });
  stream.pipe(socket);
}
