/**
 * What should happen to one VolumeSnapshot. First match wins.
 *
 *   when                                               then
 *   of a class that another driver serves              nothing
 *   deleting, a claim is being made from it            wait
 *   deleting, its content is there                     delete that, and wait for it to go
 *   deleting                                           take the protection off
 *   not protected                                      protect it: a snapshot outlives its deletion until its data is gone
 *   ready                                              nothing: it never changes again
 *   names content, or a class that is not there        say that this cannot be
 *   its claim is not there, not bound, or not a folder of ours  say so; look again
 *   no content                                         make the content: where the data is to be, and whose it is
 *   no copy                                            begin one; one that failed is told and begun again a little later
 *   a whole copy                                       tell it in the content, then here: only now it is there for anybody
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { ANNOTATION_PROVISIONED_BY, type PersistentVolume, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VolumeSnapshot, VolumeSnapshotClass, VolumeSnapshotContent } from '../../api/core/volume-snapshot.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { parseQuantity } from '../../base/quantity.ts';
import { timestamp } from '../../base/timestamp.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { CopyState } from './folder-copies.ts';

export type ObservedSnapshot = {
  /** Whose volumes are copied: the name of the provisioner, and of the driver. */
  readonly driver: string;
  readonly snapshot: VolumeSnapshot;
  /** The content that was made for it. */
  readonly content: VolumeSnapshotContent | undefined;
  readonly classes: readonly VolumeSnapshotClass[];
  /** The claim that it is of, and the volume of that. */
  readonly claim: PersistentVolumeClaim | undefined;
  readonly volume: PersistentVolume | undefined;
  readonly copy: CopyState;
  /** Claims that name it as their source and have no volume yet. */
  readonly isBeingRestored: boolean;
  readonly now: number;
};
/** Begins to copy the data of the volume. */
export type CopyData = { readonly do: 'copy data'; readonly because: string; readonly volumeName: string };

const SNAPSHOT_PROTECTION = 'snapshot.storage.kubernetes.io/volumesnapshot-bound-protection';
export const CONTENT_PROTECTION = 'snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection';
const COPY_MS = 50;
const RETRY_MS = 1_000;

/** The name of the folder that keeps the data of a snapshot, and of the object that says so. */
export function handleOf({ metadata: { uid } }: Pick<VolumeSnapshot, 'metadata'>): string {
  return `snapshot-${uid}`;
}
export function contentNameOf({ metadata: { uid } }: Pick<VolumeSnapshot, 'metadata'>): string {
  return `snapcontent-${uid}`;
}

/** The rules above, for one snapshot. */
export function decideSnapshot(observed: ObservedSnapshot): Decision<CopyData> {
  const { snapshot, content, classes } = observed;
  const { finalizers = [] } = snapshot.metadata;
  const { source, volumeSnapshotClassName: className } = snapshot.spec;
  const byName = classes.find(({ metadata }) => metadata.name === className);
  if (byName && byName.driver !== observed.driver) return nothingToDo;
  if (isDeleting(snapshot)) return letGo(observed);
  if (!finalizers.includes(SNAPSHOT_PROTECTION)) {
    const patch = { metadata: { finalizers: [...finalizers, SNAPSHOT_PROTECTION] } };
    return { actions: [patchOf(snapshot, patch, 'it must outlive its deletion until its data is gone')] };
  }
  if (snapshot.status?.readyToUse) return nothingToDo;
  if (source.volumeSnapshotContentName) return fail(observed, 'content that was not made here cannot become a snapshot');
  if (className !== undefined && !byName) return fail(observed, `volumesnapshotclass "${className}" not found`);
  const why = whyNot(observed);
  if (why !== undefined) return fail(observed, why);
  return content ? take(observed, content) : { actions: [createContent(observed)] };
}

function letGo({ snapshot, content, isBeingRestored }: ObservedSnapshot): Decision {
  if (isBeingRestored) return { actions: [], lookAgainAfterMs: RETRY_MS };
  const { finalizers = [] } = snapshot.metadata;
  const isKept = content?.spec.deletionPolicy === 'Retain';
  if (content && !isKept) {
    const target = refOf(content);
    return {
      actions: isDeleting(content) ? [] : [{ do: 'delete', target, because: 'its snapshot is deleted' }],
      lookAgainAfterMs: COPY_MS,
    };
  }
  if (!finalizers.includes(SNAPSHOT_PROTECTION)) return nothingToDo;
  const rest = finalizers.filter((each) => each !== SNAPSHOT_PROTECTION);
  return { actions: [patchOf(snapshot, { metadata: { finalizers: rest } }, 'its data is gone or kept')] };
}

/** Why the data of its claim cannot be copied now. */
function whyNot({ driver, snapshot, claim, volume }: ObservedSnapshot): string | undefined {
  const name = snapshot.spec.source.persistentVolumeClaimName;
  if (!name) return 'it names no PVC';
  if (!claim) return `persistentvolumeclaim "${name}" not found`;
  if (claim.status?.phase !== 'Bound' || volume?.spec.claimRef?.uid !== claim.metadata.uid)
    return `persistentvolumeclaim "${name}" is not bound`;
  const isOurs = volume?.metadata.annotations?.[ANNOTATION_PROVISIONED_BY] === driver;
  if (isOurs && !volume.spec.hostPath) return `volume "${volume.metadata.name}" is a device, and only folders are copied`;
  return isOurs ? undefined : `volume "${volume?.metadata.name}" was not made by the class local, and nobody else here takes snapshots`;
}

function createContent({ driver, snapshot, classes, volume }: ObservedSnapshot): Action {
  const className = snapshot.spec.volumeSnapshotClassName;
  const policy = classes.find(({ metadata }) => metadata.name === className)?.deletionPolicy ?? 'Delete';
  const { apiVersion, kind, metadata } = snapshot;
  const content: VolumeSnapshotContent = {
    apiVersion,
    kind: 'VolumeSnapshotContent',
    metadata: { name: contentNameOf(snapshot), finalizers: [CONTENT_PROTECTION] },
    spec: {
      deletionPolicy: policy,
      driver,
      source: { ...(volume && { volumeHandle: volume.metadata.name }) },
      sourceVolumeMode: volume?.spec.volumeMode ?? 'Filesystem',
      ...(className !== undefined && { volumeSnapshotClassName: className }),
      volumeSnapshotRef: { apiVersion, kind, namespace: metadata.namespace, name: metadata.name, uid: metadata.uid },
    },
  };
  return { do: 'create', object: content, because: 'its PVC is to be kept as it is now' };
}

function take(observed: ObservedSnapshot, content: VolumeSnapshotContent): Decision<CopyData> {
  const { snapshot, copy, volume, now } = observed;
  const begin: CopyData = { do: 'copy data', because: `${snapshot.metadata.name} is of it`, volumeName: volume?.metadata.name ?? '' };
  switch (copy.is) {
    case 'none':
      return { actions: [begin], lookAgainAfterMs: COPY_MS };
    case 'copying':
      return { actions: [], lookAgainAfterMs: copy.isWaiting ? RETRY_MS : COPY_MS };
    case 'going':
      return { actions: [], lookAgainAfterMs: COPY_MS };
    case 'failed':
      return now - copy.atMs < RETRY_MS
        ? fail(observed, `cannot copy the data of its PVC: ${copy.message}`)
        : { actions: [begin], lookAgainAfterMs: COPY_MS };
    case 'whole':
      return { actions: report(observed, content, copy.sinceMs) };
  }
}

function report({ snapshot, volume }: ObservedSnapshot, content: VolumeSnapshotContent, sinceMs: number): Action[] {
  const capacity = volume?.spec.capacity?.['storage'];
  const inContent = {
    snapshotHandle: handleOf(snapshot),
    creationTime: Math.floor(sinceMs) * 1_000_000,
    readyToUse: true,
    ...(capacity !== undefined && { restoreSize: parseQuantity(capacity) }),
  };
  const here = {
    boundVolumeSnapshotContentName: content.metadata.name,
    creationTime: timestamp(sinceMs),
    readyToUse: true,
    ...(capacity !== undefined && { restoreSize: capacity }),
    error: null,
  };
  const because = 'its data is copied';
  return [
    { ...patchOf(content, { status: inContent }, because), subresource: 'status' },
    { ...patchOf(snapshot, { status: here }, because), subresource: 'status' },
  ];
}

/** What stands in the way is told once, and looked at again. */
function fail({ snapshot, now }: ObservedSnapshot, message: string): Decision {
  if (snapshot.status?.error?.message === message) return { actions: [], lookAgainAfterMs: RETRY_MS };
  const status = { readyToUse: false, error: { message, time: timestamp(now) } };
  return { actions: [{ ...patchOf(snapshot, { status }, message), subresource: 'status' }], lookAgainAfterMs: RETRY_MS };
}

/** On condition that nobody else wrote in between. */
function patchOf(object: KubeObject, patch: object, because: string): Extract<Action, { do: 'patch' }> {
  return { do: 'patch', target: refOf(object), patch, resourceVersion: object.metadata.resourceVersion, because };
}
