import { NODES, type Node } from '../../api/core/node.ts';
import { ApiError } from '../../base/errors.ts';
import type { Connection } from '../deps.ts';

/** The node of this name; an error names it when there is none. */
export async function findNode({ client }: Pick<Connection, 'client'>, name: string): Promise<Node> {
  const node = await client.get(NODES, { name });
  if (!node) throw new ApiError('NotFound', `there is no node "${name}"; virtctl node ls shows those that are there`);
  return node;
}
