/** Empties a node by evictions, which budgets may hold up; says whom it waits for. */
import { UserError } from '../../../../base/errors.ts';
import type { ClusterDeps, ConnectionFlags } from '../../../deps.ts';
import { drainNode } from '../../../node/drain-node.ts';
import { findNode } from '../../../node/find-node.ts';
import { createProgress } from '../../../progress.ts';

type DrainFlags = ConnectionFlags & { readonly force: boolean; readonly timeout?: number };

export async function run(deps: ClusterDeps, { force, timeout = 300 }: DrainFlags, name: string): Promise<void> {
  if (!(timeout > 0)) throw new UserError('USAGE', `--timeout ${timeout} is not a number of seconds above 0`, { exitCode: 2 });
  const { client, clock, stdout } = deps;
  await findNode(deps, name);
  await createProgress(stdout, clock).step('drain', async (step) => {
    const count = await drainNode(client, {
      name,
      isForced: force,
      timeoutMs: timeout * 1000,
      clock,
      onWaiting: (text) => step.update(text),
    });
    return count === 0 ? `node ${name} was empty` : `node ${name} is empty: ${count} ${count === 1 ? 'Pod has' : 'Pods have'} left`;
  });
}
