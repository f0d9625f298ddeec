/** Draining and re-opening the embedded node, as `kubectl drain` and `uncordon` would. */
import { NODES } from '../../api/core/node.ts';
import { isPodFinal, PODS } from '../../api/core/pod.ts';
import { LABEL_COMPONENT } from '../../api/kubevirt/names.ts';
import { powerOf } from '../../api/kubevirt/node-power.ts';
import { ATTACHMENT_COMPONENT } from '../../api/launcher/attachment.ts';
import { LAUNCHER_PROGRAM } from '../../api/launcher/compute.ts';
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { switchNode } from '../node/switch-node.ts';

const ATTACHMENTS_MS = 15_000;

/** Lets guests be placed again after a `virtctl down`; the names of all nodes. */
export async function allowScheduling(client: Client): Promise<string[]> {
  const { items } = await client.list(NODES);
  for (const node of items) {
    if (node.spec?.unschedulable) await client.patch(NODES, { name: node.metadata.name }, { spec: { unschedulable: null } });
  }
  return items.map(({ metadata }) => metadata.name);
}

/** Keeps new guests away, asks the running ones to shut down and waits for them. Machines that should run come back with the next `up`. */
export async function drain(
  client: Client,
  { clock, onWaiting }: { clock: Clock; onWaiting: (names: readonly string[]) => void },
): Promise<number> {
  for (const node of (await client.list(NODES)).items) {
    if (!node.spec?.unschedulable) await client.patch(NODES, { name: node.metadata.name }, { spec: { unschedulable: true } });
  }
  await startNodes(client, clock);
  const asked = await launcherPods(client);
  let deadline = clock.steady();
  for (const { metadata, spec } of asked) {
    deadline = Math.max(deadline, clock.steady() + ((spec.terminationGracePeriodSeconds ?? 30) + 15) * 1000);
    await client.delete(PODS, metadata, { uid: metadata.uid });
  }
  for (let left = asked; left.length > 0; left = await launcherPods(client)) {
    onWaiting(left.map((pod) => pod.metadata.name));
    if (clock.steady() > deadline) {
      throw new UserError('GUESTS_LEFT', `these guests do not end: ${left.map((pod) => pod.metadata.name).join(', ')}`, {
        why: 'their grace period is over',
        fix: 'kubectl delete pod --grace-period=0 --force NAME, then virtctl down again',
        exitCode: 5,
      });
    }
    await clock.sleep(200);
  }
  await endAttachments(client, { clock, deadline });
  return asked.length;
}

/** What served volumes to guests that are gone would stay behind as processes: nobody ends them when this cluster is down. */
async function endAttachments(client: Client, { clock, deadline }: { clock: Clock; deadline: number }): Promise<void> {
  const list = async () => (await client.list(PODS, { labelSelector: `${LABEL_COMPONENT}=${ATTACHMENT_COMPONENT}` })).items;
  for (let left = await list(); left.length > 0 && clock.steady() < deadline + ATTACHMENTS_MS; left = await list()) {
    for (const { metadata } of left) if (!metadata.deletionTimestamp) await client.delete(PODS, metadata, { uid: metadata.uid });
    await clock.sleep(200);
  }
}

/** Of a node that somebody has stopped nobody could end the guests. */
async function startNodes(client: Client, clock: Clock): Promise<void> {
  const { items } = await client.list(NODES);
  const stopped = items.filter((node) => (powerOf(node) ?? 'running') !== 'running');
  await Promise.all(stopped.map((node) => switchNode(client, node, { wanted: 'running', clock })));
}

async function launcherPods(client: Client) {
  const { items } = await client.list(PODS, { labelSelector: `${LABEL_COMPONENT}=${LAUNCHER_PROGRAM}` });
  return items.filter((pod) => pod.spec.nodeName && !isPodFinal(pod));
}
