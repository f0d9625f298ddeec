/** Keeps the ports open that the guests of this node should have: looks again when a guest, its Pod or a Service changes. */
import { PODS, type Pod } from '../../api/core/pod.ts';
import { SERVICES } from '../../api/core/service.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { isControlledBy, isDeleting, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, messageOf } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { KeyedQueue } from '../../reconcile/queue.ts';
import { decideForwards, type GuestPort, mayOpen, usualPorts } from './decide-forwards.ts';
import { Forwards, type Monitor } from './forwards.ts';
import { takesConnection } from './takes-connection.ts';

export type GuestNetworkOptions = {
  readonly client: Client;
  readonly nodeName: string;
  readonly monitor: Monitor;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};
export type GuestNetwork = {
  /** Where a port of a guest of this node can be reached; opens it when it is not open. */
  reach(key: string, port: GuestPort): Promise<{ readonly host: string; readonly port: number }>;
  /** Whether a guest of this node takes connections at a port, for a probe: undefined when it does, else why not. */
  asks(key: string, port: number, signal: AbortSignal): Promise<string | undefined>;
  readonly stopped: Promise<void>;
};

/** Works until the signal aborts. */
export function startGuestNetwork({ nodeName, monitor, ...common }: GuestNetworkOptions): GuestNetwork {
  const { clock, log, signal } = common;
  const vmis = startCache({ ...common, resource: VMIS, labelSelector: `${LABEL_NODE_NAME}=${nodeName}` });
  const pods = startCache({ ...common, resource: PODS, fieldSelector: `spec.nodeName=${nodeName}` });
  const services = startCache({ ...common, resource: SERVICES });
  const forwards = new Forwards(monitor);
  const queue = new KeyedQueue({ clock, signal });

  const addAll = (namespace: string | undefined) => {
    for (const { metadata } of vmis.list()) if (metadata.namespace === namespace) queue.add(keyOf(metadata));
  };
  const stops = [
    vmis.subscribe(({ type, object }) => {
      if (type === 'deleted') hasUsual.delete(keyOf(object.metadata));
      queue.add(keyOf(object.metadata));
    }),
    pods.subscribe(({ object }) => addAll(object.metadata.namespace)),
    services.subscribe(({ object }) => addAll(object.metadata.namespace)),
  ];

  function find(key: string): { vmi: VirtualMachineInstance; pod: Pod; address: string } | undefined {
    const vmi = vmis.get(key);
    const pod = vmi && pods.list().find((each) => isControlledBy(each, vmi) && each.status?.phase === 'Running' && !isDeleting(each));
    const address = pod?.status?.podIP;
    return vmi?.status?.phase === 'Running' && address ? { vmi, pod, address } : undefined;
  }

  /** Once for each Pod: QEMU keeps them, and every Pod and Service of the namespace wakes all its guests. */
  const hasUsual = new Map<string, string | undefined>();
  async function openUsual(key: string, { vmi, pod, address }: NonNullable<ReturnType<typeof find>>): Promise<void> {
    const ports = usualPorts(vmi);
    if (ports.length === 0 || hasUsual.get(key) === pod.metadata.uid) return;
    await forwards.openWhatCanBe({ key, address }, ports);
    hasUsual.set(key, pod.metadata.uid);
  }

  async function work(): Promise<void> {
    for (let key = await queue.take(); key !== undefined; key = await queue.take()) {
      const found = find(key);
      try {
        for (const port of found ? decideForwards({ ...found, services: services.list() }) : []) {
          const hostPort = await forwards.open({ key, address: found?.address ?? '', ...port });
          if (hostPort !== port.port) log.warn('a low port of a guest is open at another one', { object: key, ...port, hostPort });
        }
        if (found) await openUsual(key, found);
        queue.forget(key);
      } catch (error) {
        const failures = queue.retry(key);
        log.debug('cannot open a port of a guest, trying again', { object: key, failures, error: messageOf(error) });
      }
      queue.done(key);
    }
  }

  return {
    async reach(key, port) {
      const found = find(key);
      if (!found) throw new ApiError('NotFound', `the guest ${key} does not run here`);
      if (!mayOpen(found.vmi, port))
        throw new ApiError('BadRequest', `port ${port.port} is not among the ports that the interface of ${key} declares`);
      return { host: found.address, port: await forwards.open({ key, address: found.address, ...port }) };
    },
    async asks(key, port, signal) {
      const found = find(key);
      if (!found) return 'the guest has no address yet';
      const host = found.address;
      const opened = await forwards.open({ key, address: host, protocol: 'tcp', port });
      return takesConnection({ host, port: opened, connections: () => monitor(key, 'info usernet'), clock, signal });
    },
    stopped: Promise.all([vmis.synced, pods.synced, services.synced])
      .then(work, () => {}) // never synced: the signal came first
      .finally(() => {
        for (const stop of stops) stop();
      }),
  };
}
