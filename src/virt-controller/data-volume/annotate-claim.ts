/** What a PVC says of the Pod that fills it, for clients that look at the PVC alone: virtctl image-upload. Pure. */
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { refOf } from '../../api/meta.ts';
import type { Action } from '../../reconcile/decision.ts';
import type { ObservedDataVolume } from './observed.ts';
import { takesUploads } from './status.ts';

/** Whether its Pod takes a disk now. */
export function uploadAnnotations(seen: Pick<ObservedDataVolume, 'pod' | 'progress'>): Readonly<Record<string, string>> {
  const phase = seen.pod?.status?.phase ?? 'Pending';
  return { [CDI_ANNOTATIONS.podPhase]: phase, [CDI_ANNOTATIONS.podReady]: String(takesUploads(seen)) };
}

/** Nothing when it says so already. */
export function annotateClaim(claim: PersistentVolumeClaim, annotations: Readonly<Record<string, string>>, because: string): Action[] {
  const before = claim.metadata.annotations ?? {};
  if (Object.entries(annotations).every(([key, value]) => before[key] === value)) return [];
  return [
    { do: 'patch', target: refOf(claim), patch: { metadata: { annotations } }, resourceVersion: claim.metadata.resourceVersion, because },
  ];
}
