/** Persistent volumes on the embedded cluster: claims are bound, volumes of class `local` are folders on this machine. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { PODS, type Pod } from '../../api/core/pod.ts';
import {
  PERSISTENT_VOLUME_CLAIMS,
  PERSISTENT_VOLUMES,
  type PersistentVolume,
  type PersistentVolumeClaim,
  STORAGE_CLASSES,
} from '../../api/core/volume.ts';
import { VOLUME_SNAPSHOT_CONTENTS, VOLUME_SNAPSHOTS } from '../../api/core/volume-snapshot.ts';
import { fromKey, keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { type ClaimSource, snapshotSourceOf } from './claim-source.ts';
import { asksForMore, type ClaimAction, decideClaim, type ObservedClaim } from './decide-claim.ts';
import { contentNameOf, handleOf } from './decide-snapshot.ts';
import { decideVolume, type ObservedVolume, type RemoveData } from './decide-volume.ts';
import { FairTurns } from './fair-turns.ts';
import type { FolderCopies } from './folder-copies.ts';
import { largestFileBytes } from './largest-file.ts';

export type VolumesOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** One folder for each volume that is made here. */
  readonly volumesDir: string;
  /** Of snapshots, and of the volumes that are made from them. */
  readonly copies: FolderCopies;
};

const NAME = 'persistentvolume-controller';
const REMOVALS_AT_ONCE = 2;
/** The names that `decideClaim` gives: nothing else in the folder is ever removed, whatever an object says. */
const OUR_NAME = /^pvc-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Runs the binder and the provisioner until the signal aborts. */
export async function runVolumes({ volumesDir, copies, ...options }: VolumesOptions): Promise<void> {
  const { log } = options;
  const claims = startCache({ ...options, resource: PERSISTENT_VOLUME_CLAIMS });
  const volumes = startCache({ ...options, resource: PERSISTENT_VOLUMES });
  const classes = startCache({ ...options, resource: STORAGE_CLASSES });
  const pods = startCache({ ...options, resource: PODS, indexes: { claim: claimsOf } });
  const waiting = () =>
    claims
      .list()
      .filter(({ status }) => status?.phase === 'Pending')
      .map(({ metadata }) => keyOf(metadata));
  const removing = new Set<string>();
  const removals = new FairTurns(REMOVALS_AT_ONCE);

  const binder = runController<ObservedClaim, ClaimAction>({
    ...options,
    name: NAME,
    triggers: [
      changesOf(claims, ({ metadata }) => [keyOf(metadata)]),
      changesOf(volumes, (volume) => claimKeysOf(volume) ?? waiting()),
      changesOf(classes, waiting),
      changesOf(pods, claimsOf),
    ],
    observe: async (key) => {
      const claim = claims.get(key);
      if (!claim) return undefined;
      const [source, now] = [await sourceOf(claim), options.clock.now()];
      const seen = { claim, ...(asksForMore(claim) && { largestFileBytes: largestFileBytes(volumesDir) }) };
      return { ...seen, volumes: volumes.list(), classes: classes.list(), pods: pods.byIndex('claim', key), volumesDir, source, now };
    },
    decide: decideClaim,
    subject: ({ claim }) => claim,
    act: (action, { claim, source }) => {
      const path = join(volumesDir, `pvc-${claim.metadata.uid}`);
      if (action.do === 'discard copy') copies.remove(path);
      else if (source?.snapshot)
        copies.begin({ from: join(volumesDir, handleOf(source.snapshot)), path, owner: claim.metadata.namespace ?? '' });
      return undefined;
    },
    workers: 1, // one claim after the other, so that no volume is promised twice
  });
  const reclaimer = runController<ObservedVolume, RemoveData>({
    ...options,
    name: NAME,
    triggers: [changesOf(volumes, ({ metadata }) => [metadata.name]), changesOf(claims, (claim) => volumesOf(claim, volumes.list()))],
    observe: async (key) => {
      const volume = volumes.get(key);
      const folder = volume && folderOf(volume);
      const isBeingRemoved = folder !== undefined && removing.has(folder);
      return volume && { volume, claim: await claimOf(volume), hasFolder: folder !== undefined, isBeingRemoved };
    },
    decide: decideVolume,
    subject: ({ volume }) => volume,
    act: (_, { volume }) => {
      void removeFolder(volume); // may take long; that it is over is seen
      return undefined;
    },
  });
  await Promise.all([binder, reclaimer]);

  /** Asked of the server, and only on the way: such claims are few. */
  async function sourceOf(claim: PersistentVolumeClaim): Promise<ClaimSource | undefined> {
    const name = snapshotSourceOf(claim);
    if (name === undefined || claim.status?.phase === 'Bound') return undefined;
    const snapshot = await options.client.get(VOLUME_SNAPSHOTS, { namespace: claim.metadata.namespace, name });
    const content = snapshot && (await options.client.get(VOLUME_SNAPSHOT_CONTENTS, { name: contentNameOf(snapshot) }));
    const copy = await copies.stateOf(join(volumesDir, `pvc-${claim.metadata.uid}`));
    return { snapshot, copy, volumeMode: content?.spec.sourceVolumeMode };
  }

  /** That a claim is gone costs its data, so it is asked of the server, never taken from a copy alone. */
  async function claimOf(volume: PersistentVolume): Promise<PersistentVolumeClaim | undefined> {
    const [key] = claimKeysOf(volume) ?? [];
    return key ? (claims.get(key) ?? (await options.client.get(PERSISTENT_VOLUME_CLAIMS, fromKey(key)))) : undefined;
  }

  function folderOf({ metadata, spec }: PersistentVolume): string | undefined {
    const path = join(volumesDir, metadata.name);
    return OUR_NAME.test(metadata.name) && spec.hostPath?.path === path && existsSync(path) ? path : undefined;
  }

  async function removeFolder(volume: PersistentVolume): Promise<void> {
    const path = folderOf(volume);
    if (!path || removing.has(path)) return;
    removing.add(path);
    try {
      await removals.run(path, options.signal, () => rm(path, { recursive: true, force: true }));
    } catch (error) {
      if (!options.signal.aborted)
        log.warn('cannot remove the data of a volume, trying again', { object: `PersistentVolume ${volume.metadata.name}`, error });
    } finally {
      removing.delete(path);
    }
  }
}

function claimsOf({ metadata, spec }: Pod): string[] {
  const names = (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
  return names.map((name) => keyOf({ namespace: metadata.namespace, name }));
}

function claimKeysOf({ spec: { claimRef } }: PersistentVolume): string[] | undefined {
  return claimRef?.name ? [keyOf({ namespace: claimRef.namespace, name: claimRef.name })] : undefined;
}

function volumesOf({ metadata }: PersistentVolumeClaim, volumes: readonly PersistentVolume[]): string[] {
  const key = keyOf(metadata);
  return volumes.filter((volume) => claimKeysOf(volume)?.[0] === key).map((volume) => volume.metadata.name);
}
