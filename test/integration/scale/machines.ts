/** Many machines of the smallest kind, defined and started together. */
import { type VirtualMachine, VMS } from '../../../src/api/kubevirt/kinds/virtual-machine.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { type Cache, startCache } from '../../../src/client/cache.ts';
import type { Client } from '../../../src/client/client.ts';
import { tinySpec } from '../../../src/testing/builders.ts';

const NAMESPACE = 'default';

/** Machines that are there and stopped. */
export type Machines = {
  readonly names: readonly string[];
  /** Starts all at once; resolves when all are Running and ready. */
  start(): Promise<void>;
};

/** Defines this many machines and waits until all are Stopped. What is not reached before the signal aborts is an error. */
export async function defineMachines(
  client: Client,
  {
    count,
    signal,
    instancetype,
  }: { count: number; signal: AbortSignal /** Of the cluster; sizes are written out without it. */; instancetype?: string },
): Promise<Machines> {
  const vms = startCache({ client, resource: VMS, clock: systemClock, log: silentLogger, signal });
  const names = Array.from({ length: count }, (_, n) => `vm-${String(n).padStart(5, '0')}`);
  await Promise.all(names.map((name) => client.create(VMS, machine(name, instancetype))));
  await untilAll(vms, { count, signal, what: 'Stopped', isThere: ({ status }) => status?.printableStatus === 'Stopped' });
  return {
    names,
    async start() {
      await Promise.all(names.map((name) => client.patch(VMS, { namespace: NAMESPACE, name }, { spec: { running: true } })));
      const isThere = ({ status }: VirtualMachine) => status?.printableStatus === 'Running' && status.ready === true;
      await untilAll(vms, { count, signal, what: 'Running and ready', isThere });
    },
  };
}

function machine(name: string, instancetype: string | undefined): VirtualMachine {
  const { domain, ...rest } = tinySpec;
  const sized = { running: false, template: { spec: tinySpec } };
  const named = {
    running: false,
    instancetype: { name: instancetype },
    template: { spec: { ...rest, domain: { devices: domain.devices } } },
  };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { namespace: NAMESPACE, name },
    spec: instancetype ? named : sized,
  };
}

type Wanted = { count: number; signal: AbortSignal; isThere: (vm: VirtualMachine) => boolean; what: string };

function untilAll(vms: Cache<VirtualMachine>, { count, signal, isThere, what }: Wanted): Promise<void> {
  return new Promise((resolve, reject) => {
    const there = new Set<string>();
    const stop = vms.subscribe(({ object }) => {
      if (isThere(object)) there.add(object.metadata.name);
      else there.delete(object.metadata.name);
      if (there.size === count) end(resolve);
    });
    const giveUp = () => end(() => reject(new Error(`only ${there.size} of ${count} machines became ${what} in time`)));
    const end = (then: () => void) => {
      signal.removeEventListener('abort', giveUp);
      queueMicrotask(() => stop());
      then();
    };
    signal.addEventListener('abort', giveUp);
  });
}
