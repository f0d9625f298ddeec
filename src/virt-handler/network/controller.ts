/**
 * Keeps the ports open that the guests of this node should have and take connections at: looks again at a guest when it, its Pod or a Service of
 * it changes, and when it begins or ceases to take connections.
 */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Client } from '../../client/client.ts';
import { podCardOf } from '../../qemu/convert/network.ts';
import type { LookAgain } from '../../reconcile/apply.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf, WakeUps } from '../../reconcile/source.ts';
import { keyOfOwner, type NodeCaches, ownKey } from '../node-caches.ts';
import { noSuchGuest } from '../vmi/no-such-guest.ts';
import { checkGuestPort } from './connect-guest-port.ts';
import { decideNetwork, type NetworkAction, portsToLookAt } from './decide.ts';
import { type GuestPort, mayOpen } from './decide-forwards.ts';
import { Forwards, type Monitor } from './forwards.ts';
import { findGuestPod, guestsBehind, type ObservedNetwork, observeNetwork } from './observe.ts';
import { type LookSubject, PortLooks, type Wire } from './port-looks.ts';
import type { PortTarget } from './serve-port.ts';

export type GuestNetworkOptions = NodeCaches & {
  readonly client: Client;
  readonly monitor: Monitor;
  /** The network of a guest of this node. */
  readonly wireOf: (key: string) => Wire;
  /** Whether its processors run, so that it could answer. */
  readonly isRunning: (key: string) => boolean;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
};
export type GuestNetwork = {
  /** Where a port of a guest of this node can be reached for one connection, and who has reached it. */
  reach(key: string, port: GuestPort): Promise<Omit<PortTarget, 'protocol'>>;
  /** Whether a guest of this node takes connections at a port, for a probe: undefined when it does, else why not. */
  asks(key: string, port: number, signal: AbortSignal): Promise<string | undefined>;
  /** A guest of this node has been reset. */
  hasReset(key: string): void;
  readonly stopped: Promise<void>;
};

/** Works until the signal aborts. */
export function startGuestNetwork({ monitor, wireOf, isRunning, ...options }: GuestNetworkOptions): GuestNetwork {
  const { vmis, pods, services, clock, log } = options;
  const forwards = new Forwards(monitor);
  const answers = new WakeUps();
  const looks = new PortLooks({ wireOf, subjectOf, clock, log, onChange: (key) => answers.wake(key) });
  const sources = { vmis, pods, services, forwards, looks };
  const lastSeen = new Map<string, ObservedNetwork>();
  const stopForgetting = vmis.subscribe(({ type, key }) => {
    if (type !== 'deleted') return;
    looks.forget(key);
    lastSeen.delete(key);
  });
  const loop = runController<ObservedNetwork, NetworkAction>({
    ...options,
    name: 'guest-network',
    triggers: [
      changesOf(vmis, ownKey),
      changesOf(pods, keyOfOwner),
      changesOf(services, (service) => guestsBehind(service, sources)),
      answers,
    ],
    observe: async (key) => {
      const observed = await observeNetwork(key, sources);
      if (!observed || !vmis.get(key)) return undefined; // it may have gone while QEMU was asked
      lastSeen.set(key, observed);
      looks.watch(key, observed.pod.metadata.uid);
      return observed;
    },
    decide: decideNetwork,
    act: (action, observed) => perform(action, observed, { log, forwards }),
    subject: ({ vmi }) => vmi,
  });

  function subjectOf(key: string): LookSubject {
    const seen = lastSeen.get(key);
    const card = seen && isRunning(key) && !isToldWhoItIs(seen.vmi) ? podCardOf(seen.vmi) : undefined;
    return seen && card && { card, ports: portsToLookAt(seen) };
  }
  const reachable = (key: string, host: string, port: number) => ({ host, port, connections: () => monitor(key, 'info usernet'), clock });
  return {
    async reach(key, port) {
      const found = findGuestPod(key, sources);
      if (!found) throw noSuchGuest(key);
      if (!mayOpen(found.vmi, port))
        throw new ApiError('BadRequest', `port ${port.port} is not among the ports that the interface of ${key} declares`);
      const wanted = { key, address: found.address, ...port };
      if (port.protocol === 'udp') return reachable(key, found.address, await forwards.open(wanted));
      const way = await forwards.passingWay(wanted);
      return { ...reachable(key, found.address, way.port), release: way.release };
    },
    async asks(key, port, signal) {
      const found = findGuestPod(key, sources);
      if (!found) return 'the guest has no address yet';
      const way = await forwards.passingWay({ key, address: found.address, protocol: 'tcp', port });
      try {
        return await checkGuestPort({ ...reachable(key, found.address, way.port), signal });
      } finally {
        await way.release();
      }
    },
    hasReset: (key) => looks.hasReset(key),
    stopped: loop.finally(() => {
      stopForgetting();
      looks.close();
    }),
  };
}

type Tools = Pick<GuestNetworkOptions, 'log'> & { readonly forwards: Forwards };

/** A QEMU that cannot be asked now is asked again later. */
async function perform(action: NetworkAction, { vmi }: ObservedNetwork, { forwards, log }: Tools): Promise<LookAgain | undefined> {
  const key = keyOf(vmi.metadata);
  const { protocol, port, address } = action;
  try {
    switch (action.do) {
      case 'open port': {
        const hostPort = await forwards.open({ key, address, protocol, port });
        if (hostPort !== port) log.warn('a low port of a guest is open at another one', { object: key, protocol, port, hostPort });
        break;
      }
      case 'close port':
        await forwards.close({ key, address, protocol, hostPort: port });
        break;
    }
    return undefined;
  } catch (error) {
    return { outcome: 'look again', why: messageOf(error) };
  }
}

/** It runs, but its cards have no link: a look would find nobody, and the next one is a second away. */
function isToldWhoItIs({ status }: VirtualMachineInstance): boolean {
  return status?.suspension?.origin !== undefined;
}
