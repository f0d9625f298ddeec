/**
 * What should happen to one VolumeSnapshotContent. Its data goes only when the object does, and the object only when its data is gone.
 *
 *   when                                     then
 *   of another driver                        nothing
 *   deleting, its data is there, or coming   remove that, and wait for it to go; with the policy Retain it stays
 *   deleting                                 take the protection off
 *   its snapshot is gone, policy Delete      delete it
 *
 * Pure: no clock, no I/O, no randomness.
 */
import type { VolumeSnapshotContent } from '../../api/core/volume-snapshot.ts';
import { isDeleting, refOf } from '../../api/meta.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { CONTENT_PROTECTION } from './decide-snapshot.ts';
import type { CopyState } from './folder-copies.ts';

export type ObservedContent = {
  /** Ours. */
  readonly driver: string;
  readonly content: VolumeSnapshotContent;
  /** The snapshot that it names, of that very uid, is there. */
  readonly hasSnapshot: boolean;
  readonly copy: CopyState;
};
/** Begins to remove the data of a snapshot. */
export type RemoveCopy = { readonly do: 'remove copy'; readonly because: string };

const REMOVAL_MS = 50;

/** The rules above, for one content. */
export function decideSnapshotContent({ driver: ours, content, hasSnapshot, copy }: ObservedContent): Decision<RemoveCopy> {
  const { deletionPolicy, driver } = content.spec;
  const { finalizers = [], resourceVersion } = content.metadata;
  const target = refOf(content);
  if (driver !== ours) return nothingToDo;
  if (!isDeleting(content))
    return hasSnapshot || deletionPolicy === 'Retain'
      ? nothingToDo
      : { actions: [{ do: 'delete', target, because: 'its snapshot is gone' }] };
  if (deletionPolicy === 'Delete' && copy.is !== 'none') {
    return {
      actions: copy.is === 'going' ? [] : [{ do: 'remove copy', because: 'its snapshot is deleted' }],
      lookAgainAfterMs: REMOVAL_MS,
    };
  }
  if (!finalizers.includes(CONTENT_PROTECTION)) return nothingToDo;
  const rest = finalizers.filter((each) => each !== CONTENT_PROTECTION);
  return { actions: [{ do: 'patch', target, patch: { metadata: { finalizers: rest } }, resourceVersion, because: 'its data is gone' }] };
}
