/**
 * Where NodePorts are served on the host, and what a Service says of it.
 *
 *   an administrator chose a port (annotation), it is free     the first NodePort is served there
 *   a NodePort, free at the host's loopback                    it is served there, under its own number
 *   another program (or another cluster) has that number       under the next free one of the range, and an event says so
 *   it was served under another number before                  under that one again, if it is free
 *   the Service has no NodePort any more                       it says nothing
 */
import type { Service } from '../../../api/core/service.ts';
import { FIRST_NODE_PORT, isNodePort, NODE_PORTS } from '../../../api/core/service-ranges.ts';
import { ANNOTATION_HOST_ADDRESSES, ANNOTATION_HOST_PORT } from '../../../api/kubevirt/names.ts';
import { refOf } from '../../../api/meta.ts';
import type { Action, Decision, EventToRecord } from '../../../reconcile/decision.ts';
import { decideListeners, type ListenerOptions, listenerKey, oldestFirst } from '../decide-listeners.ts';
import { HOST_ADDRESS, type HostPort, type HostPortState } from './messages.ts';

export type ObservedHostPorts = {
  readonly service: Service;
  readonly options: ListenerOptions;
  readonly stateOf: (key: string) => HostPortState | undefined;
};

const LAST_PORT = 65_535;
/** How many others are tried where a number is taken. */
const OTHERS = 16;

/** What to listen at on the host. */
export function hostPortsFor(services: readonly Service[], options: ListenerOptions): HostPort[] {
  const wanted = new Map<string, HostPort>();
  for (const service of oldestFirst(services)) {
    for (const { key, protocol, name, nodePort, chosen } of nodePortsOf(service, options)) {
      if (wanted.has(key)) continue;
      const ports = [...new Set([...(chosen ? [chosen] : []), keptPort(service, name) ?? nodePort, nodePort, ...othersFor(nodePort)])];
      wanted.set(key, { key, protocol, ports, ...(chosen && { chosen }) });
    }
  }
  return [...wanted.values()];
}

/** Keeps the annotation of the Service true. */
export function decideHostAddresses({ service, options, stateOf }: ObservedHostPorts): Decision {
  const found = nodePortsOf(service, options).map((port) => ({ ...port, state: stateOf(port.key) }));
  if (found.some(({ state }) => state === undefined)) return { actions: [] }; // it is not known yet: what is said may still be true
  const served = found.filter(({ state }) => state?.port !== undefined);
  const wanted = served.map(({ name, state }) => `${name}=${HOST_ADDRESS}:${state?.port}`).join(',') || undefined;
  const said = service.metadata.annotations?.[ANNOTATION_HOST_ADDRESSES];
  if (wanted === said) return { actions: [] };
  const moved = found.filter(({ state, nodePort, chosen }) => state?.port !== (chosen ?? nodePort));
  const patch = { metadata: { annotations: { [ANNOTATION_HOST_ADDRESSES]: wanted ?? null } } };
  const because = wanted === undefined ? 'no port of the host leads here' : `the host reaches it at ${wanted}`;
  const action: Action = { do: 'patch', target: refOf(service), patch, because };
  return {
    actions: [action, ...moved.map((port) => ({ do: 'record' as const, event: takenEvent(port), because: 'the NodePort is taken' }))],
  };
}

type NodePort = {
  readonly key: string;
  readonly protocol: HostPort['protocol'];
  readonly name: string;
  readonly nodePort: number;
  readonly chosen?: number;
};

function takenEvent({ nodePort, chosen, state }: NodePort & { readonly state: HostPortState | undefined }): EventToRecord {
  const instead = state?.port === undefined ? 'and so are the next ones' : `it is reached at ${HOST_ADDRESS}:${state.port} instead`;
  return {
    type: 'Warning',
    reason: 'NodePortTaken',
    message: `another program on this machine listens at ${HOST_ADDRESS}:${chosen ?? nodePort}, ${instead}`,
  };
}

/** `name` is how the port is called in the annotation, as kubectl shows it: `80:30080/TCP`. */
function nodePortsOf(service: Service, options: ListenerOptions): NodePort[] {
  const ports = service.spec.ports ?? [];
  return decideListeners(service, [], options)
    .filter(({ isNodePort }) => isNodePort)
    .map((listener, index) => {
      const own = ports.find(({ nodePort, protocol = 'TCP' }) => nodePort === listener.port && protocol === listener.protocol);
      return {
        key: listenerKey(listener),
        protocol: listener.protocol,
        name: `${own?.port}:${listener.port}/${listener.protocol}`,
        nodePort: listener.port,
        ...(index === 0 && chosenPort(service)),
      };
    });
}

/** An admission policy lets only administrators write it, so any port is believed. */
function chosenPort({ metadata }: Service): { readonly chosen?: number } {
  const text = metadata.annotations?.[ANNOTATION_HOST_PORT] ?? '';
  const chosen = /^[1-9]\d{0,4}$/.test(text) ? Number(text) : undefined;
  return chosen !== undefined && chosen <= LAST_PORT ? { chosen } : {};
}

/** Whoever may write a Service may write this, so it is believed within the range of NodePorts only. */
function keptPort({ metadata }: Service, name: string): number | undefined {
  const said = metadata.annotations?.[ANNOTATION_HOST_ADDRESSES]?.slice(0, 4096).split(',') ?? [];
  const port = Number(
    said
      .find((each) => each.startsWith(`${name}=${HOST_ADDRESS}:`))
      ?.split(':')
      .at(-1),
  );
  return isNodePort(port) ? port : undefined;
}

function othersFor(nodePort: number): number[] {
  return Array.from({ length: OTHERS }, (_, index) => FIRST_NODE_PORT + ((nodePort - FIRST_NODE_PORT + index + 1) % NODE_PORTS));
}
