/** The proxy of Services: takes connections and datagrams at their addresses and passes them on to an endpoint. */
import { ENDPOINT_SLICES } from '../../api/core/endpoint-slice.ts';
import { SERVICES } from '../../api/core/service.ts';
import { type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { ConnectionRoom } from './connection-room.ts';
import { decideAllListeners, type ListenerOptions, type OwnListener } from './decide-listeners.ts';
import { LABEL_SERVICE_NAME } from './decide-slices.ts';
import { hostPortsFor } from './host-ports/decide-host-ports.ts';
import type { HostPorts } from './host-ports/host-ports.ts';
import type { OpenListener } from './open-listener.ts';
import { TargetChoice } from './target-choice.ts';
import { openTcpListener } from './tcp-listener.ts';
import { openUdpListener } from './udp-listener.ts';

export type ServiceProxyOptions = ListenerOptions & {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Where NodePorts are served on the host; without it, at the address of the node alone. */
  readonly hostPorts?: HostPorts;
  readonly room?: ConnectionRoom;
};

type Open = { readonly listener: OpenListener; readonly choice: TargetChoice };

const RETRY_MS = 2_000;

/** Runs until the signal aborts; open connections end with it. */
export async function runServiceProxy(options: ServiceProxyOptions): Promise<void> {
  const { clock, log, signal, hostPorts, room = new ConnectionRoom() } = options;
  const services = startCache({ ...options, resource: SERVICES });
  const slices = startCache({ ...options, resource: ENDPOINT_SLICES, indexes: { service: serviceOf } });
  const open = new Map<string, Open>();
  const slicesOf = ({ metadata }: KubeObject) => slices.byIndex('service', keyOf(metadata));
  /** Addresses that somebody else listens at. */
  const busy = new Set<string>();
  let isDirty = false;

  function update(): void {
    isDirty = false;
    const wanted = decideAllListeners({ services: services.list(), slicesOf }, options);
    for (const [key, { listener }] of open) {
      if (wanted.has(key)) continue;
      listener.close();
      open.delete(key);
    }
    for (const [key, listener] of wanted) {
      const known = open.get(key);
      if (known) known.choice.set(listener);
      else listen(key, listener);
    }
    hostPorts?.want(hostPortsFor(services.list(), options));
  }

  function listen(key: string, wanted: OwnListener): void {
    const choice = new TargetChoice(clock);
    choice.set(wanted);
    const onError = (error: Error) => {
      if (!busy.has(key)) log.warn('cannot serve a Service, retrying', { address: key, error }); // once, not at every try
      busy.add(key);
      void clock.sleep(RETRY_MS, signal).then(() => {
        if (open.get(key) === entry) open.delete(key);
        wake();
      });
    };
    const { host, port, protocol, namespace } = wanted;
    const enter = () => room.enter(namespace);
    const opening = { host, port, choice, clock, onError, onListening: () => void busy.delete(key), enter };
    const entry: Open = { choice, listener: protocol === 'TCP' ? openTcpListener(opening) : openUdpListener(opening) };
    open.set(key, entry);
  }

  /** Many changes at once are one look. */
  function wake(): void {
    if (isDirty || signal.aborted) return;
    isDirty = true;
    queueMicrotask(() => {
      if (!signal.aborted) update();
    });
  }

  hostPorts?.onEntered(({ key, client, socket }) => {
    const entry = open.get(key);
    if (entry) entry.listener.take(socket, client);
    else socket.destroy();
  });
  const stops = [services.subscribe(wake), slices.subscribe(wake)];
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  for (const stop of stops) stop();
  for (const { listener } of open.values()) listener.destroy();
}

function serviceOf({ metadata }: KubeObject): string[] {
  const name = metadata.labels?.[LABEL_SERVICE_NAME];
  return name === undefined ? [] : [keyOf({ namespace: metadata.namespace, name })];
}
