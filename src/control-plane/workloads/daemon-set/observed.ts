/** What `decide` and `status` look at: one DaemonSet, the nodes, and every Pod and revision that may be its own. */
import type { DaemonSet } from '../../../api/core/daemon-set.ts';
import type { Node } from '../../../api/core/node.ts';
import type { Family } from '../candidates.ts';

export type ObservedDaemonSet = Family & { readonly set: DaemonSet; readonly nodes: readonly Node[]; readonly now: number };
