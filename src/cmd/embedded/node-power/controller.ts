/** Starts, stops and kills nodes of this process as their Node objects ask for it: `virtctl node`. */
import { NODES, type Node } from '../../../api/core/node.ts';
import { keyOf } from '../../../api/meta.ts';
import type { Clock } from '../../../base/clock.ts';
import type { Logger } from '../../../base/log.ts';
import { startCache } from '../../../client/cache.ts';
import type { Client } from '../../../client/client.ts';
import { runController } from '../../../reconcile/controller.ts';
import { changesOf } from '../../../reconcile/source.ts';
import { decideNodePower, type NodePowerAction, type ObservedNodePower } from './decide.ts';
import type { SwitchableNode } from './switchable-node.ts';

export type NodePowerOptions = {
  readonly client: Client;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly nodes: readonly SwitchableNode[];
};

/** Runs until the signal aborts. */
export async function runNodePower(options: NodePowerOptions): Promise<void> {
  const ours = new Map(options.nodes.map((node) => [node.name, node]));
  const nodes = startCache({ ...options, resource: NODES });
  await runController<ObservedNodePower, NodePowerAction>({
    ...options,
    name: 'node-power',
    triggers: [changesOf(nodes, ({ metadata }: Node) => [keyOf(metadata)])],
    observe: (key) => {
      const [node, running] = [nodes.get(key), ours.get(key)];
      return node && running && { node, power: running.power };
    },
    decide: decideNodePower,
    act: async (action, { node }) => {
      await act(action, ours.get(node.metadata.name));
      return undefined;
    },
    subject: ({ node }) => node,
  });
}

async function act(action: NodePowerAction, node: SwitchableNode | undefined): Promise<void> {
  switch (action.do) {
    case 'start node':
      return node?.start();
    case 'stop node':
      return node?.stop();
    case 'kill node':
      return node?.kill();
  }
}
