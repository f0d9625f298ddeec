/** The side of the cluster: says what is wanted at the loopback of the host, and takes the connections that come in there. */

import { rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { type FromHost, firstMessage, type HostPort, type HostPortState, messagesOf, send } from './messages.ts';

export type HostPortsOptions = {
  /** The socket at which the side of the host finds us. */
  readonly path: string;
  /** Asks for a process on the side of the host; it comes, or does not. */
  readonly callHost: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

type Entered = { readonly key: string; readonly client: string; readonly socket: Socket };

const CALL_AGAIN_MS = 5_000;

/** Nobody is called before something is wanted. */
export class HostPorts {
  readonly #options: HostPortsOptions;
  readonly #states = new Map<string, HostPortState>();
  readonly #listeners = new Set<(key: string) => void>();
  #wanted: readonly HostPort[] = [];
  #control: Socket | undefined;
  #server: Server | undefined;
  #onEntered: (entered: Entered) => void = ({ socket }) => socket.destroy();

  constructor(options: HostPortsOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', () => this.#close(), { once: true });
  }

  onEntered(take: (entered: Entered) => void): void {
    this.#onEntered = take;
  }

  /** Where the key is served on the host; undefined while nobody knows. */
  stateOf(key: string): HostPortState | undefined {
    return this.#states.get(key);
  }

  /** Told of every key whose state has changed. */
  subscribe(listener: (key: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** All that is wanted from now on. */
  want(ports: readonly HostPort[]): void {
    if (this.#options.signal.aborted) return;
    this.#wanted = ports;
    const keys = new Set(ports.map(({ key }) => key));
    for (const key of this.#states.keys()) if (!keys.has(key)) this.#states.delete(key);
    if (this.#control) send(this.#control, { listen: ports });
    else if (ports.length > 0) this.#call();
  }

  #call(): void {
    if (this.#server) return; // somebody was called already, or is called again
    const { path, clock, signal, log } = this.#options;
    rmSync(path, { force: true });
    this.#server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => this.#meet(socket));
    this.#server.on('error', (error) => log.warn('ports of the host cannot be served', { error }));
    this.#server.listen({ path, readableAll: false, writableAll: false });
    void (async () => {
      while (!signal.aborted) {
        if (!this.#control && this.#wanted.length > 0) this.#options.callHost();
        await clock.sleep(CALL_AGAIN_MS, signal);
      }
    })();
  }

  #meet(socket: Socket): void {
    firstMessage<FromHost>(socket, (message) => {
      if ('key' in message) this.#onEntered({ ...message, socket });
      else if ('control' in message) this.#obey(socket);
      else socket.destroy();
    });
  }

  #obey(control: Socket): void {
    this.#control?.destroy();
    this.#control = control;
    control.on('error', () => control.destroy());
    control.once('close', () => {
      if (this.#control !== control) return;
      this.#control = undefined;
      this.#states.clear();
    });
    messagesOf<FromHost>(control, (message) => {
      if (!('state' in message)) return;
      this.#states.set(message.state.key, message.state);
      for (const listener of this.#listeners) listener(message.state.key);
    });
    control.resume();
    send(control, { listen: this.#wanted });
  }

  #close(): void {
    this.#control?.destroy();
    this.#server?.close();
  }
}
