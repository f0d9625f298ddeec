/** Keeps new guests away from nodes whose virt-handler is silent. */
import type { Node } from '../../api/core/node.ts';
import { keyOf } from '../../api/meta.ts';
import type { Cache } from '../../client/cache.ts';
import { type ControllerOptions, runController } from '../../reconcile/controller.ts';
import { changesOf } from '../../reconcile/source.ts';
import { decideNode, type ObservedNode } from './decide.ts';

type Options = Pick<ControllerOptions<ObservedNode>, 'client' | 'clock' | 'log' | 'metrics' | 'signal'> & { readonly nodes: Cache<Node> };

/** Runs until the signal aborts. */
export function runNodeController({ nodes, ...shared }: Options): Promise<void> {
  return runController<ObservedNode>({
    ...shared,
    name: 'virt-controller-node',
    triggers: [changesOf(nodes, ({ metadata }) => [keyOf(metadata)])],
    observe: (key) => {
      const node = nodes.get(key);
      return node && { node, now: shared.clock.now() };
    },
    decide: decideNode,
    subject: ({ node }) => node,
  });
}
