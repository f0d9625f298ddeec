/** One pool of the smallest machines, scaled, rolled and scaled in, each step timed. */
import { POOLS, type VirtualMachinePool } from '../../../src/api/kubevirt/kinds/pool.ts';
import { type VirtualMachine, VMS } from '../../../src/api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance, VMIS } from '../../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { hasCondition, isDeleting } from '../../../src/api/meta.ts';
import { systemClock } from '../../../src/base/clock.ts';
import { silentLogger } from '../../../src/base/log.ts';
import { type Cache, startCache } from '../../../src/client/cache.ts';
import type { Client } from '../../../src/client/client.ts';
import { tinySpec } from '../../../src/testing/builders.ts';

const AT = { namespace: 'default', name: 'pooled' };
const LABELS = { app: 'pooled' };

export type PoolRun = {
  readonly scaleMs: number;
  readonly rollMs: number;
  readonly scaleInMs: number;
  /** The fewest machines that were ready at a time while it rolled. */
  readonly fewestReady: number;
  /** The names of the machines that are left. */
  readonly left: readonly string[];
};
type Size = { readonly count: number; readonly keep: number; readonly signal: AbortSignal };

/** From none to `count`, to another host name with at most a tenth away, to `keep`. What is not reached before the signal aborts is an error. */
export async function runPool(client: Client, { count, keep, signal }: Size): Promise<PoolRun> {
  const common = { client, clock: systemClock, log: silentLogger, signal };
  const seen = { vms: startCache({ ...common, resource: VMS }), vmis: startCache({ ...common, resource: VMIS }) };
  await client.create(POOLS, poolOf(0));
  const scaleTo = (replicas: number) => client.patch(POOLS, AT, { spec: { replicas } }, { subresource: 'scale' });
  const scaleMs = await timed(async () => {
    await scaleTo(count);
    await until(seen, { count, hostname: 'first', signal });
  });
  let fewestReady = count;
  const onChange = () => {
    fewestReady = Math.min(fewestReady, readyOf(seen).length);
  };
  const rollMs = await timed(async () => {
    await client.patch(POOLS, AT, { spec: { virtualMachineTemplate: { spec: { template: { spec: { hostname: 'next' } } } } } });
    await until(seen, { count, hostname: 'next', signal, onChange });
  });
  const scaleInMs = await timed(async () => {
    await scaleTo(keep);
    await until(seen, { count: keep, hostname: 'next', signal });
  });
  return { scaleMs, rollMs, scaleInMs, fewestReady, left: seen.vms.list().map(({ metadata }) => metadata.name) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

function poolOf(replicas: number): VirtualMachinePool {
  const template = { metadata: { labels: LABELS }, spec: { ...tinySpec, hostname: 'first', terminationGracePeriodSeconds: 0 } };
  return {
    apiVersion: 'pool.kubevirt.io/v1beta1',
    kind: 'VirtualMachinePool',
    metadata: AT,
    spec: {
      replicas,
      maxUnavailable: '10%',
      selector: { matchLabels: LABELS },
      virtualMachineTemplate: { metadata: { labels: LABELS }, spec: { runStrategy: 'Always', template } },
    },
  };
}

type Seen = { readonly vms: Cache<VirtualMachine>; readonly vmis: Cache<VirtualMachineInstance> };
type Wanted = {
  readonly count: number;
  readonly hostname: string;
  readonly signal: AbortSignal;
  readonly onChange?: () => void;
};

/** Until there are exactly this many machines, each with an instance of that host name that is ready. */
function until({ vms, vmis }: Seen, { count, hostname, signal, onChange }: Wanted): Promise<void> {
  return new Promise((resolve, reject) => {
    const asWanted = () => readyOf({ vmis }).filter(({ spec }) => spec.hostname === hostname).length;
    const look = () => {
      onChange?.();
      if (vms.list().length === count && vmis.list().length === count && asWanted() === count) end(resolve);
    };
    const giveUp = () => {
      const there = `there are ${vms.list().length} machines, ${vmis.list().length} instances`;
      end(() => reject(new Error(`${there}, ${asWanted()} of them ready with host name ${hostname}; ${count} were to be`)));
    };
    const stops = [vms.subscribe(look), vmis.subscribe(look)];
    const end = (then: () => void) => {
      signal.removeEventListener('abort', giveUp);
      // Whoever subscribes is told at once of what is there: it may be over before the last one is subscribed.
      queueMicrotask(() => stops.forEach((stop) => stop()));
      then();
    };
    signal.addEventListener('abort', giveUp);
  });
}

function readyOf({ vmis }: Pick<Seen, 'vmis'>): VirtualMachineInstance[] {
  return vmis.list().filter((vmi) => !isFinal(vmi) && !isDeleting(vmi) && hasCondition(vmi.status?.conditions, 'Ready'));
}
