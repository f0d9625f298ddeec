/** The proxy of Services: accepts connections at their addresses and passes them on to an endpoint, one after the other in turn. */
import { connect, createServer, type Server, type Socket } from 'node:net';
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { SERVICES } from '../../api/core/service.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { decideListeners, type Listener, type ListenerOptions, type Target } from './decide-listeners.ts';
import { LABEL_SERVICE_NAME } from './decide-slices.ts';

export type ServiceProxyOptions = ListenerOptions & {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

type Open = { readonly server: Server; targets: readonly Target[]; next: number };

const CONNECT_TIMEOUT_MS = 5_000;
const RETRY_MS = 2_000;

/** Runs until the signal aborts; open connections end with it. */
export async function runServiceProxy(options: ServiceProxyOptions): Promise<void> {
  const { clock, log, signal } = options;
  const services = startCache({ ...options, resource: SERVICES });
  const slices = startCache({ ...options, resource: ENDPOINT_SLICES, indexes: { service: serviceOf } });
  const open = new Map<string, Open>();
  const sockets = new Set<Socket>();
  /** Addresses that somebody else listens at. */
  const busy = new Set<string>();
  let isDirty = false;

  function update(): void {
    isDirty = false;
    const wanted = new Map<string, Listener>();
    for (const service of services.list()) {
      const own = slices.byIndex('service', keyOf(service.metadata));
      for (const listener of decideListeners(service, own, options)) wanted.set(`${listener.host}:${listener.port}`, listener);
    }
    for (const [key, { server }] of open) {
      if (wanted.has(key)) continue;
      server.close();
      open.delete(key);
    }
    for (const [key, listener] of wanted) {
      const known = open.get(key);
      if (known) known.targets = listener.targets;
      else listen(key, listener);
    }
  }

  function listen(key: string, { host, port, targets }: Listener): void {
    const entry: Open = { server: createServer({ allowHalfOpen: true, pauseOnConnect: true }), targets, next: 0 };
    entry.server.on('connection', (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      passOn(socket, inTurn(entry));
    });
    entry.server.on('error', (error) => {
      if (!busy.has(key)) log.warn('cannot serve a Service, trying again', { address: key, error }); // once, not at every try
      busy.add(key);
      void clock.sleep(RETRY_MS, signal).then(() => {
        if (open.get(key) === entry) open.delete(key);
        wake();
      });
    });
    entry.server.on('listening', () => busy.delete(key));
    open.set(key, entry);
    entry.server.listen(port, host);
  }

  /** Many changes at once are one look. */
  function wake(): void {
    if (isDirty || signal.aborted) return;
    isDirty = true;
    queueMicrotask(() => {
      if (!signal.aborted) update();
    });
  }

  const stops = [services.subscribe(wake), slices.subscribe(wake)];
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  for (const stop of stops) stop();
  for (const { server } of open.values()) server.close();
  for (const socket of sockets) socket.destroy();
}

function serviceOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[LABEL_SERVICE_NAME];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}

/** All targets, beginning with the one whose turn it is. */
function inTurn(entry: Open): Target[] {
  const { targets } = entry;
  const first = targets.length === 0 ? 0 : entry.next++ % targets.length;
  return [...targets.slice(first), ...targets.slice(0, first)];
}

/** To the first target that accepts; a client of a Service without any is refused. */
function passOn(client: Socket, [target, ...others]: readonly Target[]): void {
  client.on('error', () => client.destroy());
  if (!target) {
    client.resetAndDestroy();
    return;
  }
  const upstream = connect({ ...target, allowHalfOpen: true, timeout: CONNECT_TIMEOUT_MS });
  const failed = () => {
    upstream.destroy();
    passOn(client, others);
  };
  const leave = () => upstream.destroy();
  client.once('close', leave);
  upstream.once('timeout', failed).once('error', failed);
  upstream.once('connect', () => {
    upstream.off('timeout', failed).off('error', failed).setTimeout(0);
    upstream.on('error', () => client.destroy());
    client.pipe(upstream);
    upstream.pipe(client);
  });
}
