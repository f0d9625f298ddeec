/** Whether a disk can be sent to what has this name; and until it can. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { DATA_VOLUMES, type DataVolume } from '../../api/kubevirt/kinds/data-volume.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

export type UploadTarget = { readonly claim: PersistentVolumeClaim | undefined; readonly dataVolume: DataVolume | undefined };
/** `takes`: a disk can be sent to it. `coming`: not yet. The others never take one. */
export type TargetState = 'takes' | 'coming' | keyof typeof WHY_NOT;

const WHY_NOT = {
  filled: 'it is filled already',
  unmarked: 'it is not one that an upload is for',
  'other source': 'its disk comes from somewhere else',
} as const;
const POLL_MS = 250;

/** First match wins. */
export function targetState({ claim, dataVolume }: UploadTarget): TargetState {
  const annotations = claim?.metadata.annotations ?? {};
  if (annotations[CDI_ANNOTATIONS.podPhase] === 'Succeeded') return 'filled';
  if (claim) return annotations[CDI_ANNOTATIONS.uploadTarget] === undefined ? 'unmarked' : 'takes';
  return dataVolume && !dataVolume.spec.source?.upload ? 'other source' : 'coming';
}

type At = { readonly namespace: string; readonly name: string };
type UntilOptions = At & { readonly client: Client; readonly clock: Clock; readonly signal?: AbortSignal };

/** Resolves when the DataVolume that is there or was just made has a PVC that a disk can be sent to. */
export async function untilTaken({ client, clock, signal, namespace, name }: UntilOptions): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const claim = await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name });
    const dataVolume = claim ? undefined : await client.get(DATA_VOLUMES, { namespace, name });
    const state = targetState({ claim, dataVolume });
    if (state === 'takes') return;
    if (state !== 'coming')
      throw new UserError('NOT_FOR_UPLOAD', `nothing was sent to ${name}`, {
        why: WHY_NOT[state],
        fix: 'choose another name',
        exitCode: 4,
      });
    await clock.sleep(POLL_MS, signal);
  }
}
