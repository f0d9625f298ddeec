/**
 * Whether a machine waits for an image. Pure.
 *
 *   its instance says that an image cannot be had   blocked
 *   it is being fetched, and could not be before    blocked: what the last try said
 *   it is being fetched for the first time          nothing blocks; which one, and since when
 */
import type { Event } from '../../api/core/event.ts';
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_DISK_IMAGE } from '../../api/kubevirt/names.ts';
import { HOW_STAND_INS_ARE_MADE, standInFor } from '../../api/kubevirt/stand-ins.ts';
import { imageOf } from '../../api/kubevirt/volumes/source-of.ts';
import { humanDuration } from '../../base/duration.ts';
import type { Answer, Observed } from './observed.ts';

export function isImageReason(reason: string | undefined): boolean {
  return reason === 'ErrImagePull' || reason === 'ImagePullBackOff';
}

/** An image that cannot be fetched, as the instance says. */
export function imageMissing(observed: Observed): Answer | undefined {
  const { vmi, pod } = observed;
  const condition = vmiCondition(vmi, 'Synchronized');
  if (!vmi || isFinal(vmi) || condition?.status !== 'False' || !isImageReason(condition.reason)) return undefined;
  return cannotBeFetched(observed, [`${condition.reason}: ${condition.message ?? ''}`, ...(pod ? [`Pod ${pod.metadata.name}`] : [])]);
}

/** An image that is being fetched. While it is tried again the Pod does not say that it failed before: its events do. */
export function imageComing(observed: Observed): Answer | undefined {
  const { name, vmi, pod, now } = observed;
  if (!vmi || isFinal(vmi) || !pod) return undefined;
  const told = observed.events.filter(({ involvedObject: { uid } }) => uid === pod.metadata.uid);
  const pulling = told.findLast(({ reason }) => reason === 'Pulling');
  if (!pulling || told.some((event) => event.reason === 'Pulled' && atOf(event) >= atOf(pulling))) return undefined;
  const since = `${pulling.message}, ${humanDuration(now - atOf(pulling))} ago`;
  const failure = told.findLast(({ reason, message }) => reason === 'Failed' && /^Failed to pull image/.test(message));
  if (failure) return cannotBeFetched(observed, [failure.message, since]);
  return {
    isBlocked: false,
    what: `nothing blocks yet: ${name} is starting, and its node fetches an image`,
    evidence: [since, `Pod ${pod.metadata.name} is ${pod.status?.phase ?? 'new'}`],
    fix: `wait, or look at the registry; virtctl why ${name} says when it fails`,
  };
}

function atOf({ lastTimestamp }: Event): number {
  return Date.parse(lastTimestamp);
}

function cannotBeFetched({ name, vmi, claims }: Observed, seen: readonly string[]): Answer {
  const shown = (vmi?.spec.volumes ?? []).flatMap((volume) => imageOf(volume)?.image ?? []);
  const images = [...shown, ...[...claims.values()].flatMap((claim) => claim?.metadata.annotations?.[ANNOTATION_DISK_IMAGE] ?? [])];
  return {
    isBlocked: true,
    what: `${name} waits for an image that cannot be fetched`,
    evidence: [...seen, `images: ${images.join(', ')}`],
    fix: fixFor(images),
  };
}

function fixFor(images: readonly string[]): string {
  if (images.some((image) => standInFor(image) !== undefined))
    return `make the registry reachable, or put the guest there that stands in for it: ${HOW_STAND_INS_ARE_MADE}`;
  return images.some((image) => image.startsWith('localhost/'))
    ? 'images under localhost/ are never pulled: correct the name in the manifest, or bring the image in first (virtctl image import FILE NAME)'
    : 'correct the name in the manifest, or make the registry reachable; it is tried again by itself';
}
