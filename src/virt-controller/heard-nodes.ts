/**
 * Nodes whose heartbeat says when we heard of it, not which time the clock there showed. Clocks are set, by hours and back, and differ between
 * nodes: neither may make all guests of a node look lost, nor hide that they are. Nor does the time count in which we were stopped ourselves.
 */
import type { Node } from '../api/core/node.ts';
import { ANNOTATION_HEARTBEAT } from '../api/kubevirt/names.ts';
import { keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Pulse } from '../base/pulse.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Cache } from '../client/cache.ts';

/** The same cache; a beat that came while it watched is dated by our own clock. */
export function heardNodes(nodes: Cache<Node>, { clock, pulse }: { readonly clock: Clock; readonly pulse: Pulse }): Cache<Node> {
  const heard = new Map<string, number>();
  const begunAt = pulse.awakeSince();
  nodes.subscribe((change) => {
    const key = keyOf(change.object.metadata);
    if (change.type === 'modified' && beatOf(change.old) !== beatOf(change.object)) heard.set(key, clock.steady());
    if (change.type === 'deleted') heard.delete(key);
  });
  const dated = (node: Node): Node => {
    if (beatOf(node) === undefined) return node;
    const awakeSince = pulse.awakeSince();
    const wasAway = awakeSince > begunAt;
    const at = heard.get(keyOf(node.metadata)) ?? (wasAway ? awakeSince : undefined);
    if (at === undefined) return node; // what was there before us we have to believe
    const beat = timestamp(clock.now() - (clock.steady() - Math.max(at, awakeSince)));
    return { ...node, metadata: { ...node.metadata, annotations: { ...node.metadata.annotations, [ANNOTATION_HEARTBEAT]: beat } } };
  };
  return {
    ...nodes,
    get: (key) => {
      const node = nodes.get(key);
      return node && dated(node);
    },
    list: () => nodes.list().map(dated),
    byIndex: (index, value) => nodes.byIndex(index, value).map(dated),
  };
}

function beatOf({ metadata }: Node): string | undefined {
  return metadata.annotations?.[ANNOTATION_HEARTBEAT];
}
