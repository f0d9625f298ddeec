/** Asks the embedded cluster to start, stop or kill one of its nodes, and waits until that is so. */
import { NODES, type Node } from '../../api/core/node.ts';
import { type NodePower, powerOf, wantPower } from '../../api/kubevirt/node-power.ts';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

const PATIENCE_MS = 60_000;
const LOOK_MS = 100;

/** On a real cluster nothing is written, and the error says why. */
export async function switchNode(client: Client, node: Node, { wanted, clock }: { wanted: NodePower; clock: Clock }): Promise<void> {
  const { name } = node.metadata;
  if (powerOf(node) === undefined) throw notEmbedded(name);
  let now: Node | undefined = await client.patch(NODES, { name }, wantPower(wanted));
  for (const deadline = clock.steady() + PATIENCE_MS; now && !isAs(now, wanted); now = await client.get(NODES, { name })) {
    if (clock.steady() > deadline)
      throw new UserError('STILL_WAITING', `node ${name} is ${powerOf(now) ?? 'unknown'} and not ${wanted} yet`, {
        why: 'the embedded cluster has not done so within a minute',
        fix: 'virtctl node ls shows when it has; virtctl logs and $VIRT_HOME/logs/embedded.log say what holds it up',
        exitCode: 5,
      });
    await clock.sleep(LOOK_MS);
  }
}

/** One that was killed is stopped, too. */
function isAs(node: Node, wanted: NodePower): boolean {
  const power = powerOf(node);
  return power === wanted || (wanted === 'stopped' && power === 'killed');
}

function notEmbedded(name: string): UserError {
  return new UserError('NOT_EMBEDDED', `node ${name} is not of an embedded cluster`, {
    why: 'a node of a real cluster is a machine of its own, which virtctl neither stops nor starts',
    fix: `virtctl node drain ${name} empties it; what stops its machine is up to who runs it`,
    exitCode: 2,
  });
}
