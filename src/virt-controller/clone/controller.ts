/** Makes clones of machines: the loop of `observe`, `decide` and reconcile's apply. The restore that it asks for makes the new machine. */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { targetNameOf, type VirtualMachineClone } from '../../api/kubevirt/kinds/vm-clone.ts';
import { type VirtualMachineRestore, VM_RESTORES } from '../../api/kubevirt/kinds/vm-restore.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { ownerKeysOf } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { claimNamesOf } from '../vmi/claims.ts';
import { decideVmClone, restoreNameOf, snapshotNameOf } from './decide.ts';
import type { ObservedVmClone } from './observed.ts';

export type VmCloneOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  readonly clones: Cache<VirtualMachineClone>;
  readonly snapshots: Cache<VirtualMachineSnapshot>;
  readonly restores: Cache<VirtualMachineRestore>;
  readonly vms: Cache<VirtualMachine>;
};

/** Runs until the signal aborts. */
export function runVmCloneController(options: VmCloneOptions): Promise<void> {
  const { client, clock, log, metrics, signal, clones, snapshots, restores, vms } = options;
  return runController<ObservedVmClone>({
    name: 'clone-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(clones, ({ metadata }) => [keyOf(metadata)]),
      changesOf(snapshots, ownerKeysOf('VirtualMachineClone')),
      changesOf(restores, ownerKeysOf('VirtualMachineClone')),
      changesOf(vms, () => []),
    ],
    observe: (key) => observeVmClone(options, key),
    decide: decideVmClone,
    subject: ({ clone }) => clone,
  });
}

async function observeVmClone(
  { client, clock, clones, snapshots, restores, vms }: VmCloneOptions,
  key: string,
): Promise<ObservedVmClone | undefined> {
  const clone = clones.get(key);
  if (!clone) return undefined;
  const { namespace } = clone.metadata;
  const at = (name: string) => ({ ...(namespace !== undefined && { namespace }), name });
  const { source } = clone.spec;
  const isOver = clone.status?.phase === 'Succeeded' || clone.status?.phase === 'Failed';
  // What is missing is made, so that is asked of the server.
  const find = async <T>(known: T | undefined, ask: () => Promise<T | undefined>) => known ?? (isOver ? undefined : await ask());
  const target = at(targetNameOf(clone));
  const snapshot = at(snapshotNameOf(clone));
  const restore = at(restoreNameOf(clone));
  const seen = {
    clone,
    source: source.kind === 'VirtualMachine' ? vms.get(keyOf(at(source.name))) : undefined,
    snapshot: await find(snapshots.get(keyOf(snapshot)), () => client.get(VM_SNAPSHOTS, snapshot)),
    restore: await find(restores.get(keyOf(restore)), () => client.get(VM_RESTORES, restore)),
    target: await find(vms.get(keyOf(target)), () => client.get(VMS, target)),
    now: clock.now(),
  };
  if (!isOver || !seen.snapshot || !seen.target) return seen;
  const names = claimNamesOf(seen.target.spec.template.spec);
  const claims = await Promise.all(names.map((name) => client.get(PERSISTENT_VOLUME_CLAIMS, at(name))));
  return { ...seen, unbound: claims.flatMap((claim) => (claim && claim.status?.phase !== 'Bound' ? [claim] : [])) };
}
