/**
 * What should happen to one PersistentVolumeClaim. First match wins among the rules that bind.
 *
 *   when                                              then
 *   deleting, a copy for it but no volume             remove the copy
 *   deleting, and no Pod uses it                      take the protection off; the volume's own rules follow
 *   without protection                                protect it: a claim in use outlives its deletion
 *   Bound, its volume gone                            Lost
 *   Bound, asks for more than a file can be here      say so and give nothing: what was asked can be taken back
 *   Bound, asks for more than its volume has          grow the volume, then the status; the disk follows
 *   Bound, was refused, asks for what it has again    take the refusal off
 *   its volume refers to it                           write down the volume, then Bound
 *   no class named, there is a default class          name it
 *   a free volume fits                                reserve the smallest one that does
 *   its class is ours, no file can be that large      say how large one may be
 *   its class is ours, it begins as a snapshot        copy that first: there is no volume before its data is whole
 *   its class is ours                                 make a volume: a folder that the kubelet creates at its first use, in Block mode, too
 *   otherwise                                         say what it waits for
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { KubernetesEventReason } from '../../api/core/event-reasons.ts';
import { isPodFinal, type Pod } from '../../api/core/pod.ts';
import {
  ANNOTATION_PROVISIONED_BY,
  CONTROLLER_RESIZE_ERROR,
  LOCAL_PROVISIONER,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type StorageClass,
  whyNotResized,
} from '../../api/core/volume.ts';
import { diskBytesFrom, mostClaimBytesFor } from '../../api/kubevirt/volumes/disk-size.ts';
import { isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { formatBytes, parseQuantity } from '../../base/quantity.ts';
import { type Action, type Decision, type EventToRecord, nothingToDo } from '../../reconcile/decision.ts';
import { type ClaimSource, type DiscardCopy, type FillVolume, isLeftOver, unknownSourceOf, whyNotFrom } from './claim-source.ts';

export type ObservedClaim = {
  readonly claim: PersistentVolumeClaim;
  readonly volumes: readonly PersistentVolume[];
  readonly classes: readonly StorageClass[];
  /** Pods of the namespace that name the claim. */
  readonly pods: readonly Pod[];
  /** Where volumes that are made get their folders. */
  readonly volumesDir: string;
  /** How large a file can be there; looked at when it asks for more than it has, and undefined when nobody can tell. */
  readonly largestFileBytes?: number | undefined;
  /** The snapshot that it begins as; undefined for a claim that begins empty. */
  readonly source?: ClaimSource | undefined;
  readonly now?: number;
};
export type ClaimAction = FillVolume | DiscardCopy;

export const CLAIM_PROTECTION = 'kubernetes.io/pvc-protection';
export const VOLUME_PROTECTION = 'kubernetes.io/pv-protection';
const COPY_MS = 50;
const RETRY_MS = 1_000;
const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The rules above, for one claim. */
export function decideClaim(observed: ObservedClaim): Decision<ClaimAction> {
  const { claim, volumes, source } = observed;
  const { finalizers = [], uid } = claim.metadata;
  const isProtected = finalizers.includes(CLAIM_PROTECTION);
  const mine = volumes.find(({ spec }) => spec.claimRef?.uid === uid);
  if (isDeleting(claim) && isProtected && isLeftOver(source, mine))
    return { actions: [{ do: 'discard copy', because: 'its PVC is deleted' }], lookAgainAfterMs: COPY_MS };
  if (isDeleting(claim))
    return isProtected && !isInUse(observed) ? withFinalizers(claim, without(finalizers), 'nobody uses it') : nothingToDo;
  if (!isProtected) return withFinalizers(claim, [...finalizers, CLAIM_PROTECTION], 'a PVC in use must outlive its deletion');
  if (claim.status?.phase === 'Bound' || claim.status?.phase === 'Lost') return afterBinding(observed, mine);
  if (mine) return bindTo(claim, mine);
  return find(observed);
}

function isInUse({ pods }: ObservedClaim): boolean {
  return pods.some((pod) => !isPodFinal(pod));
}

function without(finalizers: readonly string[]): string[] {
  return finalizers.filter((each) => each !== CLAIM_PROTECTION);
}

function withFinalizers(claim: PersistentVolumeClaim, finalizers: readonly string[], because: string): Decision {
  return { actions: [patch(claim, { metadata: { finalizers } }, because)] };
}

function afterBinding(observed: ObservedClaim, mine: PersistentVolume | undefined): Decision {
  const { claim } = observed;
  if (mine && claim.status?.phase === 'Bound') return grow(observed, mine);
  if (mine || claim.status?.phase === 'Lost') return nothingToDo;
  const message = 'Bound claim has lost its PersistentVolume. Data on the volume is lost!';
  const event: EventToRecord = { type: 'Warning', reason: 'ClaimLost', message };
  return { actions: [{ ...patchStatus(claim, { phase: 'Lost' }, 'its volume is gone'), event }] };
}

/** Folders have no size of their own: what is promised is what the disk on them becomes. Volumes that somebody else made stay as they are. */
function grow(observed: ObservedClaim, volume: PersistentVolume): Decision {
  const { claim } = observed;
  const storage = claim.spec.resources?.requests?.['storage'];
  if (volume.metadata.annotations?.[ANNOTATION_PROVISIONED_BY] !== LOCAL_PROVISIONER || storage === undefined) return nothingToDo;
  const wasRefused = whyNotResized(claim) !== undefined;
  if (!asksForMore(claim))
    return wasRefused ? { actions: [patchStatus(claim, NOT_REFUSED, 'it asks for no more than it has')] } : nothingToDo;
  const message = tooLargeMessage(observed);
  if (message !== undefined) return refuse(claim, message);
  const because = `it was asked to grow to ${storage}`;
  return {
    actions: [
      ...(sizeOf(volume) < (requestOf(claim) ?? 0) ? [patch(volume, { spec: { capacity: { storage } } }, because)] : []),
      patchStatus(claim, { capacity: { storage }, ...(wasRefused && NOT_REFUSED) }, because),
    ],
  };
}

const NOT_REFUSED = { conditions: [], allocatedResourceStatuses: null };

/** In the words of Kubernetes, whose clients show them. */
function refuse(claim: PersistentVolumeClaim, message: string): Decision {
  if (whyNotResized(claim) === message) return nothingToDo;
  const status = {
    conditions: [{ type: CONTROLLER_RESIZE_ERROR, status: 'True', message }],
    allocatedResourceStatuses: { storage: 'ControllerResizeInfeasible' },
  };
  const event: EventToRecord = { type: 'Warning', reason: 'VolumeResizeFailed', message };
  return { actions: [{ ...patchStatus(claim, status, message), event }] };
}

/** It asks for more than it has been given. */
export function asksForMore(claim: PersistentVolumeClaim): boolean {
  return (requestOf(claim) ?? 0) > (bytesOf(claim.status?.capacity?.['storage']) ?? 0);
}

/** Folders have no size, and what is promised is a file in one. */
function tooLargeMessage({ claim, largestFileBytes }: ObservedClaim): string | undefined {
  const storage = claim.spec.resources?.requests?.['storage'];
  const { volumeMode } = claim.spec;
  if (largestFileBytes === undefined || (diskBytesFrom(storage, volumeMode) ?? 0) <= largestFileBytes) return undefined;
  const most = volumeMode === 'Block' ? largestFileBytes : mostClaimBytesFor(largestFileBytes);
  return `a volume of ${storage} is too large for the file system of the cluster's data folder: at most ${formatBytes(most)}`;
}

/** The volume already refers to the claim, so this can be repeated from any point. */
function bindTo(claim: PersistentVolumeClaim, volume: PersistentVolume): Decision {
  const { accessModes, capacity } = volume.spec;
  const named: Action[] =
    claim.spec.volumeName === volume.metadata.name
      ? []
      : [patch(claim, { spec: { volumeName: volume.metadata.name } }, `it gets ${volume.metadata.name}`)];
  return { actions: [...named, patchStatus(claim, { phase: 'Bound', accessModes, capacity }, `${volume.metadata.name} is its volume`)] };
}

function find(observed: ObservedClaim): Decision<ClaimAction> {
  const { claim, volumes, classes } = observed;
  const { storageClassName, volumeName } = claim.spec;
  if (storageClassName === undefined && !volumeName) {
    const byDefault = classes.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
    if (byDefault) {
      const change = { spec: { storageClassName: byDefault.metadata.name } };
      return { actions: [patch(claim, change, `${byDefault.metadata.name} is the default class`)] };
    }
  }
  // What is to have a content cannot have a volume that is there already.
  const isEmpty = observed.source === undefined && unknownSourceOf(claim) === undefined;
  const [best] = volumes.filter((volume) => isEmpty && fits(claim, volume)).sort((a, b) => sizeOf(a) - sizeOf(b));
  if (best) return { actions: [reserve(claim, best)] };
  if (volumeName) return waiting('FailedBinding', `volume "${volumeName}" is not there, not free or does not fit`);
  if (!storageClassName) return waiting('FailedBinding', 'no persistent volumes available for this claim and no storage class is set');
  const storageClass = classes.find(({ metadata }) => metadata.name === storageClassName);
  if (!storageClass) return failed(`storageclass.storage.k8s.io "${storageClassName}" not found`);
  if (storageClass.provisioner !== LOCAL_PROVISIONER)
    return waiting('ExternalProvisioning', `Waiting for a volume to be created by the external provisioner '${storageClass.provisioner}'`);
  const unknown = unknownSourceOf(claim);
  if (unknown !== undefined) return failed(`class ${storageClassName} cannot make a volume from ${unknown}, only from a VolumeSnapshot`);
  const tooLarge = tooLargeMessage(observed);
  if (tooLarge !== undefined) return failed(tooLarge);
  return (observed.source && fill(observed, observed.source)) ?? provision(observed, storageClass);
}

/** What is to be done before there may be a volume; undefined when its data is whole. */
function fill({ claim, now = 0 }: ObservedClaim, source: ClaimSource): Decision<ClaimAction> | undefined {
  const { copy } = source;
  if (copy.is === 'whole') return undefined;
  const why = whyNotFrom(claim, source);
  const isToTryAgain = copy.is === 'failed' && now - copy.atMs >= RETRY_MS;
  if (why !== undefined && !isToTryAgain) return { ...failed(why), lookAgainAfterMs: RETRY_MS };
  const isUnderWay = copy.is === 'copying' || copy.is === 'going';
  const lookAgainAfterMs = copy.is === 'copying' && copy.isWaiting ? RETRY_MS : COPY_MS;
  return { actions: isUnderWay ? [] : [{ do: 'fill volume', because: 'it begins as a snapshot' }], lookAgainAfterMs };
}

function fits(claim: PersistentVolumeClaim, { metadata, spec, status }: PersistentVolume): boolean {
  const { spec: wanted } = claim;
  const reservedFor = spec.claimRef;
  const isFree = reservedFor
    ? !reservedFor.uid && reservedFor.name === claim.metadata.name && reservedFor.namespace === claim.metadata.namespace
    : status?.phase === 'Available';
  return (
    isFree &&
    metadata.deletionTimestamp === undefined &&
    !wanted.selector &&
    (wanted.volumeName ? metadata.name === wanted.volumeName : (spec.storageClassName ?? '') === (wanted.storageClassName ?? '')) &&
    (spec.volumeMode ?? 'Filesystem') === (wanted.volumeMode ?? 'Filesystem') &&
    (wanted.accessModes ?? []).every((mode) => spec.accessModes?.includes(mode)) &&
    (bytesOf(spec.capacity?.['storage']) ?? 0) >= (requestOf(claim) ?? 0)
  );
}

function reserve(claim: PersistentVolumeClaim, volume: PersistentVolume): Action {
  const because = `it is reserved for ${claim.metadata.namespace}/${claim.metadata.name}`;
  return patch(volume, { spec: { claimRef: referenceTo(claim) } }, because);
}

function provision({ claim, volumesDir }: ObservedClaim, storageClass: StorageClass): Decision {
  const { accessModes, volumeMode = 'Filesystem', selector, resources } = claim.spec;
  const name = `pvc-${claim.metadata.uid}`;
  const storage = resources?.requests?.['storage'];
  if (selector) return failed('claim.Spec.Selector is not supported for dynamic provisioning');
  if (!storage || !(requestOf(claim) ?? 0)) return failed('the PVC asks for no storage');
  const volume: PersistentVolume = {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name, annotations: { [ANNOTATION_PROVISIONED_BY]: LOCAL_PROVISIONER }, finalizers: [VOLUME_PROTECTION] },
    spec: {
      accessModes,
      capacity: { storage },
      claimRef: referenceTo(claim),
      hostPath: { path: `${volumesDir}/${name}`, type: 'DirectoryOrCreate' },
      persistentVolumeReclaimPolicy: storageClass.reclaimPolicy ?? 'Delete',
      storageClassName: storageClass.metadata.name,
      volumeMode,
    },
  };
  const event: EventToRecord = { type: 'Normal', reason: 'ProvisioningSucceeded', message: `Successfully provisioned volume ${name}` };
  return { actions: [{ do: 'create', object: volume, because: `a PVC of class ${storageClass.metadata.name} has no volume`, event }] };
}

function waiting(reason: KubernetesEventReason, message: string): Decision {
  return { actions: [{ do: 'record', because: message, event: { type: 'Normal', reason, message } }] };
}

function failed(message: string): Decision {
  return { actions: [{ do: 'record', because: message, event: { type: 'Warning', reason: 'ProvisioningFailed', message } }] };
}

function referenceTo({ apiVersion, kind, metadata: { namespace, name, uid } }: KubeObject): object {
  return { apiVersion, kind, namespace, name, uid };
}

/** On condition that nobody else wrote in between. */
function patch(object: KubeObject, change: object, because: string): Action {
  return { do: 'patch', target: refOf(object), patch: change, because, resourceVersion: object.metadata.resourceVersion };
}

function patchStatus(claim: PersistentVolumeClaim, status: object, because: string): Action {
  return { do: 'patch', target: refOf(claim), patch: { status }, subresource: 'status', because };
}

function requestOf({ spec }: PersistentVolumeClaim): number | undefined {
  return bytesOf(spec.resources?.requests?.['storage']);
}

function sizeOf({ spec }: PersistentVolume): number {
  return bytesOf(spec.capacity?.['storage']) ?? Number.POSITIVE_INFINITY;
}

function bytesOf(quantity: string | undefined): number | undefined {
  return quantity === undefined ? undefined : parseQuantity(quantity);
}
