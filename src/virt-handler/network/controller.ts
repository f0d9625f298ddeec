/** Keeps the ports open that the guests of this node should have: looks again at a guest when it, its Pod or a Service of it changes. */
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { Client } from '../../client/client.ts';
import type { LookAgain } from '../../reconcile/apply.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { keyOfOwner, type NodeCaches, ownKey } from '../node-caches.ts';
import { noSuchGuest } from '../vmi/no-such-guest.ts';
import { checkGuestPort } from './connect-guest-port.ts';
import { decideNetwork, type NetworkAction } from './decide.ts';
import { type GuestPort, mayOpen, portId } from './decide-forwards.ts';
import { Forwards, type Monitor } from './forwards.ts';
import { findGuestPod, guestsBehind, type ObservedNetwork, type OpenedPorts, observeNetwork } from './observe.ts';
import type { PortTarget } from './serve-port.ts';

export type GuestNetworkOptions = NodeCaches & {
  readonly client: Client;
  readonly monitor: Monitor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};
export type GuestNetwork = {
  /** Where a port of a guest of this node can be reached, and who has reached it; opens it when it is not open. */
  reach(key: string, port: GuestPort): Promise<Omit<PortTarget, 'protocol'>>;
  /** Whether a guest of this node takes connections at a port, for a probe: undefined when it does, else why not. */
  asks(key: string, port: number, signal: AbortSignal): Promise<string | undefined>;
  readonly stopped: Promise<void>;
};

/** Works until the signal aborts. */
export function startGuestNetwork({ monitor, ...options }: GuestNetworkOptions): GuestNetwork {
  const { vmis, pods, services, clock } = options;
  const forwards = new Forwards(monitor);
  const opened = new Map<string, OpenedPorts>();
  const sources = { vmis, pods, services, opened };
  const stopForgetting = vmis.subscribe(({ type, key }) => {
    if (type === 'deleted') opened.delete(key);
  });
  const loop = runController<ObservedNetwork, NetworkAction>({
    ...options,
    name: 'guest-network',
    triggers: [changesOf(vmis, ownKey), changesOf(pods, keyOfOwner), changesOf(services, (service) => guestsBehind(service, sources))],
    observe: (key) => observeNetwork(key, sources),
    decide: decideNetwork,
    act: (action, observed) => openPorts(action, observed, { ...options, forwards, opened }),
    subject: ({ vmi }) => vmi,
  });

  const reachable = (key: string, host: string, port: number) => ({ host, port, connections: () => monitor(key, 'info usernet'), clock });
  return {
    async reach(key, port) {
      const found = findGuestPod(key, sources);
      if (!found) throw noSuchGuest(key);
      if (!mayOpen(found.vmi, port))
        throw new ApiError('BadRequest', `port ${port.port} is not among the ports that the interface of ${key} declares`);
      return reachable(key, found.address, await forwards.open({ key, address: found.address, ...port }));
    },
    async asks(key, port, signal) {
      const found = findGuestPod(key, sources);
      if (!found) return 'the guest has no address yet';
      const open = await forwards.open({ key, address: found.address, protocol: 'tcp', port });
      return checkGuestPort({ ...reachable(key, found.address, open), signal });
    },
    stopped: loop.finally(stopForgetting),
  };
}

type Tools = Pick<GuestNetworkOptions, 'vmis' | 'log'> & { readonly forwards: Forwards; readonly opened: Map<string, OpenedPorts> };

/** A QEMU that cannot be asked now is asked again later. */
async function openPorts(action: NetworkAction, { vmi, pod }: ObservedNetwork, tools: Tools): Promise<LookAgain | undefined> {
  const { vmis, forwards, opened, log } = tools;
  const key = keyOf(vmi.metadata);
  const podUid = pod.metadata.uid;
  const remember = (port: GuestPort[], hasUsual: boolean) => {
    const known = opened.get(key);
    const before = known?.podUid === podUid ? known : undefined;
    const ports = new Set([...(before?.ports ?? []), ...port.map(portId)]);
    if (vmis.get(key)) opened.set(key, { podUid, ports, hasUsual: hasUsual || before?.hasUsual === true });
  };
  try {
    switch (action.do) {
      case 'open port': {
        const { protocol, port, address } = action;
        const hostPort = await forwards.open({ key, address, protocol, port });
        if (hostPort !== port) log.warn('a low port of a guest is open at another one', { object: key, protocol, port, hostPort });
        remember([action], false);
        break;
      }
      case 'open usual ports':
        await forwards.openWhatCanBe({ key, address: action.address }, action.ports);
        remember([], true);
        break;
    }
    return undefined;
  } catch (error) {
    return { outcome: 'look again', why: messageOf(error) };
  }
}
