/** VolumeSnapshots on the embedded cluster: copies of the folders of claims, beside them. */
import { join } from 'node:path';
import { LOCAL_PROVISIONER, PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES } from '../../api/core/volume.ts';
import {
  VOLUME_SNAPSHOT_CLASSES,
  VOLUME_SNAPSHOT_CONTENTS,
  VOLUME_SNAPSHOTS,
  type VolumeSnapshot,
} from '../../api/core/volume-snapshot.ts';
import { byType } from '../../api/known-resources.ts';
import { keyOf } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { startCache } from '../../client/cache.ts';
import type { Client } from '../../client/client.ts';
import { runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { snapshotSourceOf } from './claim-source.ts';
import { type CopyData, contentNameOf, decideSnapshot, handleOf, type ObservedSnapshot } from './decide-snapshot.ts';
import { decideSnapshotContent, type ObservedContent, type RemoveCopy } from './decide-snapshot-content.ts';
import type { FolderCopies } from './folder-copies.ts';

export type SnapshotsOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly volumesDir: string;
  readonly copies: FolderCopies;
  /** Whose volumes these are; the embedded cluster's own when not given. */
  readonly driver?: string;
};

const NAME = 'volumesnapshot-controller';
const KINDS = byType([VOLUME_SNAPSHOTS, VOLUME_SNAPSHOT_CONTENTS]);

/** Runs until the signal aborts. The kinds must be there: they are definitions that the embedded cluster brings. */
export async function runSnapshots({ volumesDir, copies, driver = LOCAL_PROVISIONER, ...options }: SnapshotsOptions): Promise<void> {
  const snapshots = startCache({ ...options, resource: VOLUME_SNAPSHOTS });
  const contents = startCache({ ...options, resource: VOLUME_SNAPSHOT_CONTENTS });
  const classes = startCache({ ...options, resource: VOLUME_SNAPSHOT_CLASSES });
  const claims = startCache({ ...options, resource: PERSISTENT_VOLUME_CLAIMS });
  const volumes = startCache({ ...options, resource: PERSISTENT_VOLUMES });
  const resourceOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }) => KINDS.get(`${apiVersion} ${kind}`);
  const folderOf = (snapshot: Pick<VolumeSnapshot, 'metadata'>) => join(volumesDir, handleOf(snapshot));

  const taker = runController<ObservedSnapshot, CopyData>({
    ...options,
    name: NAME,
    resourceOf,
    triggers: [
      changesOf(snapshots, ({ metadata }) => [keyOf(metadata)]),
      changesOf(
        contents,
        ({
          spec: {
            volumeSnapshotRef: { namespace, name },
          },
        }) => (name ? [keyOf({ namespace, name })] : []),
      ),
      changesOf(classes, () => []),
      changesOf(claims, () => []),
      changesOf(volumes, () => []),
    ],
    observe: async (key) => {
      const snapshot = snapshots.get(key);
      if (!snapshot) return undefined;
      const { namespace } = snapshot.metadata;
      const claim = claims.get(keyOf({ namespace, name: snapshot.spec.source.persistentVolumeClaimName ?? '' }));
      const content = contents.get(contentNameOf(snapshot));
      return {
        driver,
        snapshot,
        content: content?.spec.volumeSnapshotRef.uid === snapshot.metadata.uid ? content : undefined,
        classes: classes.list(),
        claim,
        volume: claim?.spec.volumeName ? volumes.get(claim.spec.volumeName) : undefined,
        copy: await copies.stateOf(folderOf(snapshot)),
        isBeingRestored: claims.list().some((each) => !each.spec.volumeName && isMadeFrom(each, snapshot)),
        now: options.clock.now(),
      };
    },
    decide: decideSnapshot,
    subject: ({ snapshot }) => snapshot,
    act: ({ volumeName }, { snapshot }) => {
      const owner = snapshot.metadata.namespace ?? '';
      copies.begin({ from: join(volumesDir, volumeName), path: folderOf(snapshot), owner }); // may take long; that it is over is seen
      return undefined;
    },
  });
  const reclaimer = runController<ObservedContent, RemoveCopy>({
    ...options,
    name: NAME,
    resourceOf,
    triggers: [changesOf(contents, ({ metadata }) => [metadata.name]), changesOf(snapshots, (snapshot) => [contentNameOf(snapshot)])],
    observe: async (key) => {
      const content = contents.get(key);
      const folder = content && folderOfContent(content.metadata.name);
      if (!content) return undefined;
      const { namespace, name = '', uid } = content.spec.volumeSnapshotRef;
      // That a snapshot is gone costs its data, so it is asked of the server.
      const snapshot = snapshots.get(keyOf({ namespace, name })) ?? (await options.client.get(VOLUME_SNAPSHOTS, { namespace, name }));
      const copy = folder ? await copies.stateOf(folder) : ({ is: 'none' } as const);
      return { driver, content, hasSnapshot: snapshot?.metadata.uid === uid, copy };
    },
    decide: decideSnapshotContent,
    subject: ({ content }) => content,
    act: (_, { content }) => {
      const folder = folderOfContent(content.metadata.name);
      if (folder) copies.remove(folder);
      return undefined;
    },
  });
  await Promise.all([taker, reclaimer]);

  /** By the name that we give, whatever else the object says. */
  function folderOfContent(name: string): string | undefined {
    const [, uid] = /^snapcontent-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(name) ?? [];
    return uid && folderOf({ metadata: { name, uid } });
  }
}

function isMadeFrom(claim: Parameters<typeof snapshotSourceOf>[0], { metadata }: VolumeSnapshot): boolean {
  return claim.metadata.namespace === metadata.namespace && snapshotSourceOf(claim) === metadata.name;
}
