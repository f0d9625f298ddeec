/** Closes a node and evicts its Pods, as `kubectl drain --ignore-daemonsets --delete-emptydir-data` does. */
import { NODES } from '../../api/core/node.ts';
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import { isDeleting, keyOf } from '../../api/meta.ts';
import { pathOf } from '../../api/resource.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, isApiError, UserError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import { heldUpBy } from './held-up.ts';

export type Drain = {
  readonly name: string;
  /** Also Pods that have no controller, and so are gone for good. */
  readonly isForced: boolean;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onWaiting: (text: string) => void;
};

const AGAIN_MS = 500;
const MIRROR = 'kubernetes.io/config.mirror';

/** How many have left. */
export async function drainNode(client: Client, options: Drain): Promise<number> {
  const { name, clock, timeoutMs, onWaiting } = options;
  await client.patch(NODES, { name }, { spec: { unschedulable: true } });
  const all = await podsToLeave(client, name);
  if (!options.isForced) refuseUnmanaged(all);
  const deadline = clock.steady() + timeoutMs;
  const uids = new Set(all.map(({ metadata }) => metadata.uid));
  const heldUp = new Map<string, string>();
  for (let left = all; left.length > 0; left = (await podsToLeave(client, name)).filter(({ metadata }) => uids.has(metadata.uid))) {
    heldUp.clear();
    const doing = new Map<string, string>();
    for (const pod of left) {
      const why = isDeleting(pod) ? undefined : await evict(client, pod);
      if (why === undefined) continue;
      heldUp.set(keyOf(pod.metadata), why);
      doing.set(keyOf(pod.metadata), await heldUpBy(client, pod));
    }
    const names = left.map(({ metadata }) => keyOf(metadata));
    if (clock.steady() > deadline) throw notInTime(name, names, heldUp);
    onWaiting(`waiting for ${names.map((each) => (doing.has(each) ? `${each} (${doing.get(each)})` : each)).join(', ')}`);
    await clock.sleep(AGAIN_MS);
  }
  return all.length;
}

/** Those of a DaemonSet would be back at once, and those that mirror a process are no Pods to the API. */
async function podsToLeave(client: Client, name: string): Promise<readonly Pod[]> {
  const { items } = await client.list(PODS, { fieldSelector: `spec.nodeName=${name}` });
  return items.filter(
    (pod) => !isPodFinal(pod) && controllerKindOf(pod) !== 'DaemonSet' && pod.metadata.annotations?.[MIRROR] === undefined,
  );
}

function controllerKindOf({ metadata }: Pod): string | undefined {
  return metadata.ownerReferences?.find(({ controller }) => controller)?.kind;
}

function refuseUnmanaged(pods: readonly Pod[]): void {
  const names = pods.filter((pod) => controllerKindOf(pod) === undefined).map(({ metadata }) => keyOf(metadata));
  if (names.length === 0) return;
  throw new UserError('UNMANAGED_PODS', `nobody makes these Pods again: ${names.join(', ')}`, {
    why: 'they have no controller, and would be gone for good; the node is closed to new Pods, and nothing was evicted',
    fix: 'the same with --force, or delete them',
    exitCode: 2,
  });
}

/** Undefined when it leaves, or else why not now. */
async function evict(client: Client, { metadata: { namespace, name, uid } }: Pod): Promise<string | undefined> {
  const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name }, deleteOptions: { preconditions: { uid } } };
  try {
    const answer = await client.request(pathOf(PODS, { namespace, name, subresource: 'eviction' }), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    await answer.text(); // one that nobody reads holds the connection, and so us
    return undefined;
  } catch (error) {
    if (isApiError(error, 'NotFound') || isApiError(error, 'Conflict')) return undefined; // gone, or another one of its name
    if (error instanceof ApiError && error.code === 429) return error.message;
    throw error;
  }
}

function notInTime(node: string, names: readonly string[], heldUp: ReadonlyMap<string, string>): UserError {
  const [why] = heldUp.values();
  return new UserError('PODS_LEFT', `these Pods have not left node ${node} in time: ${names.join(', ')}`, {
    why: why ?? 'their grace period is longer, or nobody on the node ends them',
    fix: `virtctl node drain ${node} resumes; virtctl node uncordon ${node} opens it again`,
    exitCode: 5,
  });
}
