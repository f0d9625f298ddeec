/**
 * What should happen to one node, given when its virt-handler was last heard of.
 *
 *   heartbeat                            label schedulable    then
 *   older than 5 min                     true                 set it to false: no new guest goes where nobody looks after it
 *   younger                              any                  look again when it could be too old
 *   never                                any                  leave: not a node for guests
 *
 * Guests that are there stay: while the API shows their Pods alive nobody knows that they are not (fencing). The handler itself
 * sets the label again with its next beat. Pure.
 */
import type { Node } from '../../api/core/node.ts';
import { ANNOTATION_HEARTBEAT, HEARTBEAT_STALE_AFTER_MS, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import { refOf } from '../../api/meta.ts';
import { type Decision, nothingToDo } from '../../reconcile/decision.ts';

export type ObservedNode = { readonly node: Node; readonly now: number };

/** The rules above, for one node. */
export function decideNode({ node, now }: ObservedNode): Decision {
  const { annotations, labels, resourceVersion } = node.metadata;
  const beatAt = Date.parse(annotations?.[ANNOTATION_HEARTBEAT] ?? '');
  if (Number.isNaN(beatAt) || labels?.[LABEL_SCHEDULABLE] !== 'true') return nothingToDo;
  const restMs = beatAt + HEARTBEAT_STALE_AFTER_MS - now;
  if (restMs >= 0) return { actions: [], lookAgainAfterMs: restMs + 1000 };
  const because = `virt-handler was last heard of at ${annotations?.[ANNOTATION_HEARTBEAT]}`;
  const patch = { metadata: { labels: { [LABEL_SCHEDULABLE]: 'false' } } };
  const event = { type: 'Warning', reason: 'NodeUnresponsive', message: `The node takes no more guests: ${because}` } as const;
  return { actions: [{ do: 'patch', target: refOf(node), patch, resourceVersion, because, event }] };
}
