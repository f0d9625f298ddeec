/** Takes VirtualMachineSnapshots: the loop of `observe`, `decide` and `act`, which stops the writes of guests. */
import type { ControllerRevision } from '../../api/core/controller-revision.ts';
import type { Pod } from '../../api/core/pod.ts';
import { isPodFinal } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { SNAPSHOT_GROUP, VOLUME_SNAPSHOTS } from '../../api/core/volume-snapshot.ts';
import { isMigrationFinal, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_RESTORES } from '../../api/kubevirt/kinds/vm-restore.ts';
import type { VirtualMachineSnapshot } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VirtualMachineSnapshotContent } from '../../api/kubevirt/kinds/vm-snapshot-content.ts';
import { isControlledBy, type KubeObject, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { isApiError } from '../../base/errors.ts';
import type { Logger } from '../../base/log.ts';
import type { MetricFamilies } from '../../base/metrics.ts';
import type { Cache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { BY_CONTROLLER } from '../../reconcile/owner.ts';
import { changesOf } from '../../reconcile/source.ts';
import { BY_VMI } from '../migration/observe.ts';
import { isReplacing } from '../restore/in-place.ts';
import { revisionOf } from '../vm/revision.ts';
import { instanceIn, isKeptInstance } from '../vm/suspension.ts';
import { unfilledClaimsOf } from '../vmi/claims-of.ts';
import { contentNameOf, specToKeep, volumesOf } from './content-for.ts';
import { decideVmSnapshot, type Freeze, type Tell } from './decide.ts';
import { backupsOf } from './memory.ts';
import type { ObservedVmSnapshot, Quiesce } from './observed.ts';
import { tellGuest } from './tell-guest.ts';

export type VmSnapshotOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where to show how much there is to do. */
  readonly metrics?: MetricFamilies | undefined;
  readonly signal: AbortSignal;
  /** By `bySource`. */
  readonly snapshots: Cache<VirtualMachineSnapshot>;
  readonly contents: Cache<VirtualMachineSnapshotContent>;
  readonly vms: Cache<VirtualMachine>;
  readonly vmis: Cache<VirtualMachineInstance>;
  readonly pods: Cache<Pod>;
  readonly revisions: Cache<ControllerRevision>;
  /** By `byVmi`. */
  readonly migrations: Cache<VirtualMachineInstanceMigration>;
};

const BY_SOURCE = 'source';
/** Snapshots by the key of the machine that they keep. */
export const bySource = {
  [BY_SOURCE]: ({ metadata: { namespace }, spec }: VirtualMachineSnapshot): readonly string[] => [
    keyOf({ namespace, name: spec.source.name }),
  ],
};

/** Runs until the signal aborts. */
export function runVmSnapshotController(options: VmSnapshotOptions): Promise<void> {
  const { client, clock, log, metrics, signal, snapshots, contents, vms, vmis, pods } = options;
  /** What was done to the guest, by the uid of the snapshot. */
  const quiesced = new Map<string, Quiesce>();
  const paused = new Set<string>();
  return runController<ObservedVmSnapshot, Freeze | Tell>({
    name: 'snapshot-controller',
    client,
    clock,
    log,
    metrics,
    signal,
    triggers: [
      changesOf(snapshots, ({ metadata }) => [keyOf(metadata)]),
      changesOf(contents, ({ metadata, spec }) => [keyOf({ namespace: metadata.namespace, name: spec.virtualMachineSnapshotName ?? '' })]),
      changesOf(vms, snapshotsOf),
      changesOf(vmis, snapshotsOf), // an instance has the name of its machine
      changesOf(pods, () => []),
      changesOf(options.revisions, () => []),
      changesOf(options.migrations, () => []),
    ],
    observe: (key) => observeVmSnapshot(options, key, { quiesced, paused }),
    decide: decideVmSnapshot,
    subject: ({ snapshot }) => snapshot,
    act: async (action, { snapshot, vmi }) => {
      const { uid = '' } = snapshot.metadata;
      if (action.do === 'pause') paused.add(uid); // whatever becomes of it
      const quiesce = vmi && (await tellGuest(options, action, vmi));
      if (action.do === 'unpause') paused.delete(uid);
      if (quiesce) quiesced.set(uid, quiesce);
      return undefined;
    },
  });

  function snapshotsOf({ metadata }: KubeObject): string[] {
    return snapshots.byIndex(BY_SOURCE, keyOf(metadata)).map((each) => keyOf(each.metadata));
  }
}

async function observeVmSnapshot(
  options: VmSnapshotOptions,
  key: string,
  { quiesced, paused }: { readonly quiesced: Map<string, Quiesce>; readonly paused: Set<string> },
): Promise<ObservedVmSnapshot | undefined> {
  const { client, clock, snapshots, contents, vms, vmis, pods, revisions } = options;
  const snapshot = snapshots.get(key);
  if (!snapshot) return undefined;
  const { namespace, uid = '' } = snapshot.metadata;
  const at = keyOf({ namespace, name: snapshot.spec.source.name });
  const vm = vms.get(at);
  const found = vmis.get(at);
  const vmi = vm && found && isControlledBy(found, vm) ? found : undefined;
  const own = vm ? revisions.byIndex(BY_CONTROLLER, vm.metadata.uid ?? '') : [];
  const started = vmi ?? (snapshot.spec.memory ? instanceIn(own.find(isKeptInstance)) : undefined);
  const revision = started && revisionOf(started, own);
  const content = contents.get(keyOf({ namespace, name: contentNameOf(snapshot) }));
  const isOver = snapshot.status?.phase === 'Succeeded' || snapshot.status?.phase === 'Failed';
  const kept = vm && snapshot.spec.memory ? own.find(isKeptInstance) : undefined;
  const moves = snapshot.spec.memory ? options.migrations.byIndex(BY_VMI, at) : [];
  const migration = moves.find((each) => !isMigrationFinal(each))?.metadata.name;
  const quiesce = quiesced.get(uid) ?? 'untouched';
  const seen = { snapshot, vm, vmi, revision, kept, migration, content, quiesce, hasPaused: paused.has(uid), now: clock.now() } as const;
  if (isOver) quiesced.delete(uid);
  if (isOver) paused.delete(uid);
  if (isOver || snapshot.metadata.deletionTimestamp)
    return {
      ...seen,
      isReplacingDisks: await isReplacingDisks(client, snapshot),
      claims: new Map(),
      claimsInUse: new Set(),
      volumeSnapshots: new Map(),
      hasVolumeSnapshots: true,
    };
  const spec = specToKeep(seen);
  const memoryClaim = snapshot.spec.memory ? vm?.status?.suspension?.claimName : undefined;
  const disks = spec ? volumesOf(spec.template.spec).included.map(({ claimName }) => claimName) : [];
  const names = [...disks, ...(memoryClaim === undefined ? [] : [memoryClaim])];
  const wanted = backupsOf(content).flatMap(({ volumeSnapshotName }) => volumeSnapshotName ?? []);
  const launchers = pods.list().filter((pod) => pod.metadata.namespace === namespace && !isPodFinal(pod));
  const claims = await byName(names, (name) => client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name }));
  return {
    ...seen,
    claims,
    unfilledClaims: await unfilledClaimsOf(client, claims),
    claimsInUse: new Set(
      launchers.flatMap((pod) => (pod.spec.volumes ?? []).flatMap((each) => each.persistentVolumeClaim?.claimName ?? [])),
    ),
    volumeSnapshots: await byName(wanted, (name) => client.get(VOLUME_SNAPSHOTS, { namespace, name })),
    hasVolumeSnapshots: await hasVolumeSnapshots(client),
  };
}

/** Of one that is kept nobody has to ask. */
async function isReplacingDisks(client: Client, { metadata }: VirtualMachineSnapshot): Promise<boolean> {
  if (!metadata.deletionTimestamp) return false;
  const { items } = await client.list(VM_RESTORES, { namespace: metadata.namespace });
  return items.some((restore) => restore.spec.virtualMachineSnapshotName === metadata.name && isReplacing(restore));
}

async function byName<T>(names: readonly string[], get: (name: string) => Promise<T>): Promise<ReadonlyMap<string, T>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await get(name)] as const)));
}

/** Asked each time: a cluster may get them later. */
async function hasVolumeSnapshots(client: Client): Promise<boolean> {
  try {
    await client.request(`/apis/${SNAPSHOT_GROUP}/v1`);
    return true;
  } catch (error) {
    if (isApiError(error, 'NotFound')) return false;
    throw error;
  }
}
