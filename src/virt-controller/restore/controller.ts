/** Performs VirtualMachineRestores: the loop of `observe`, `decide` and reconcile's apply. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import { PERSISTENT_VOLUME_CLAIMS, STORAGE_CLASSES } from '../../api/core/volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_CLONES } from '../../api/kubevirt/kinds/vm-clone.ts';
import type { VirtualMachineRestore } from '../../api/kubevirt/kinds/vm-restore.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import { type VirtualMachineSnapshotContent, VM_SNAPSHOT_CONTENTS } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { controllerOf, hasCondition, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { isKeptInstance } from '../vm/suspension.ts';
import { decideVmRestore } from './decide.ts';
import type { ObservedVmRestore } from './observed.ts';
import { claimNamesOf } from './restored.ts';

export type VmRestoreOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  /** By `byTarget`. */
  readonly restores: Cache<VirtualMachineRestore>;
  readonly snapshots: Cache<VirtualMachineSnapshot>;
  readonly contents: Cache<VirtualMachineSnapshotContent>;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  /** By the uid of the VM, under BY_CONTROLLER. */
  readonly revisions: Cache<ControllerRevision>;
};

const BY_TARGET = 'target';
/** Restores by the key of the machine that they change. */
export const byTarget = {
  [BY_TARGET]: ({ metadata: { namespace }, spec }: VirtualMachineRestore): readonly string[] => [
    keyOf({ namespace, name: spec.target.name }),
  ],
};

/** Runs until the signal aborts. */
export function runVmRestoreController(options: VmRestoreOptions): Promise<void> {
  const { client, clock, log, metrics, signal, restores, snapshots, contents, vms, vmis, revisions } = options;
  const restoresOf = ({ metadata }: KubeObject) => restores.byIndex(BY_TARGET, keyOf(metadata)).map((each) => keyOf(each.metadata));
  return runController<ObservedVmRestore>({
    name: 'restore-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(restores, ({ metadata }) => [keyOf(metadata)]),
      changesOf(vms, restoresOf),
      changesOf(vmis, restoresOf), // an instance has the name of its machine
      changesOf(snapshots, () => []),
      changesOf(contents, () => []),
      changesOf(revisions, () => []),
    ],
    observe: (key) => observeVmRestore(options, key),
    decide: decideVmRestore,
    subject: ({ restore }) => restore,
  });
}

async function observeVmRestore(options: VmRestoreOptions, key: string): Promise<ObservedVmRestore | undefined> {
  const { client, clock, restores, snapshots, contents, vms, vmis, revisions } = options;
  const restore = restores.get(key);
  if (!restore) return undefined;
  const { namespace } = restore.metadata;
  const target = { namespace, name: restore.spec.target.name };
  // What takes the place of disks is asked of the server: they go on its word.
  const isFresh = restore.spec.volumeRestorePolicy === 'InPlace';
  const snapshotAt = { namespace, name: restore.spec.virtualMachineSnapshotName };
  const snapshot = isFresh ? await client.get(VM_SNAPSHOTS, snapshotAt) : snapshots.get(keyOf(snapshotAt));
  const contentName = snapshot?.status?.virtualMachineSnapshotContentName;
  const contentAt = { namespace, name: contentName ?? '' };
  const kept = isFresh && contentName ? await client.get(VM_SNAPSHOT_CONTENTS, contentAt) : contents.get(keyOf(contentAt));
  const content = contentName ? kept : undefined;
  const vm = vms.get(keyOf(target));
  const records = vm ? revisions.byIndex(BY_CONTROLLER, vm.metadata.uid ?? '').filter(isKeptInstance) : [];
  const seen = { restore, snapshot, content, vm, records, clone: await cloneOf(client, restore), now: clock.now() };
  if (restore.status?.complete || hasCondition(restore.status?.conditions, 'Failure'))
    return { ...seen, claims: await claimsOf(options, seen), lateClasses: new Set() };
  return {
    ...seen,
    // That nothing runs is asked of the server: a machine is changed on its word.
    vmi: vmis.get(keyOf(target)) ?? (await client.get(VMIS, target)),
    claims: await claimsOf(options, seen),
    lateClasses: await lateClasses(client),
  };
}

/** Asked of the server: the new machine is made once, as it says. */
async function cloneOf(client: Client, restore: VirtualMachineRestore): Promise<ObservedVmRestore['clone']> {
  const owner = controllerOf(restore);
  if (owner?.kind !== VM_CLONES.kind || restore.status?.complete) return undefined;
  const { namespace } = restore.metadata;
  const clone = await client.get(VM_CLONES, { ...(namespace !== undefined && { namespace }), name: owner.name });
  return clone?.metadata.uid === owner.uid ? clone : 'gone';
}

async function claimsOf({ client }: VmRestoreOptions, { restore, content }: Pick<ObservedVmRestore, 'restore' | 'content'>) {
  const { namespace } = restore.metadata;
  const names = claimNamesOf(restore, content);
  const claims = await Promise.all(names.map((name) => client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name })));
  return new Map(names.map((name, index) => [name, claims[index]] as const));
}

/** Their claims are bound when the machine is started, and not before. */
async function lateClasses(client: Client): Promise<ReadonlySet<string>> {
  const { items } = await client.list(STORAGE_CLASSES);
  return new Set(
    items.filter(({ volumeBindingMode }) => volumeBindingMode === 'WaitForFirstConsumer').map(({ metadata }) => metadata.name),
  );
}
