/** Reads a machine and everything behind it: VM, VMI, Pod, nodes, claims, events. */

import { EVENTS, type Event } from '../../api/core/event.ts';
import { NODES, type Node } from '../../api/core/node.ts';
import { isPodFinal, PODS, type Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_CREATED_BY } from '../../api/kubevirt/names.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { claimOf } from '../../api/kubevirt/volumes/source-of.ts';
import { isLauncherOf } from '../../api/launcher/pod-name.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Clock } from '../../base/clock.ts';
import { ApiError, isApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';
import type { Observed } from './observed.ts';

export type Where = {
  readonly client: Client;
  readonly namespace: string;
  readonly name: string;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};
type Reader = Pick<Client, 'get' | 'list'>;

export async function observeWhy({ client: whole, namespace, name, clock, signal }: Where): Promise<Observed> {
  const client: Reader = signal
    ? {
        get: (resource, at) => whole.get(resource, at, { signal }),
        list: (resource, options) => whole.list(resource, { ...options, signal }),
      }
    : whole;
  const at = { namespace, name };
  const [vm, vmi, nodes] = await Promise.all([client.get(VMS, at), client.get(VMIS, at), visibleNodes(client)]);
  if (!vm && !vmi) throw new ApiError('NotFound', `there is no virtual machine "${name}" in namespace ${namespace}`);
  const pod = vmi && (await launcherPod(client, namespace, vmi));
  const [claims, { events, pastEvents }] = await Promise.all([
    claimsOf(client, namespace, (vmi?.spec ?? vm?.spec.template.spec)?.volumes ?? []),
    eventsOf(client, namespace, [vm, vmi, pod]),
  ]);
  return {
    now: clock.now(),
    name,
    claims,
    events,
    pastEvents,
    ...(vm && { vm }),
    ...(vmi && { vmi }),
    ...(pod && { pod }),
    ...(nodes && { nodes }),
  };
}

/** Not everybody may look at nodes; the rest of the answer is worth having without. */
async function visibleNodes(client: Reader): Promise<readonly Node[] | undefined> {
  try {
    return (await client.list(NODES)).items;
  } catch (error) {
    if (isApiError(error, 'Forbidden')) return undefined;
    throw error;
  }
}

async function launcherPod(client: Reader, namespace: string, vmi: KubeObject): Promise<Pod | undefined> {
  const { items } = await client.list(PODS, { namespace, labelSelector: `${LABEL_CREATED_BY}=${vmi.metadata.uid}` });
  const own = items.filter((pod) => isLauncherOf(pod, vmi)).sort((a, b) => madeAt(a) - madeAt(b));
  return own.findLast((pod) => !isPodFinal(pod)) ?? own.at(-1);
}

function madeAt(object: KubeObject): number {
  return Date.parse(object.metadata.creationTimestamp ?? '');
}

async function claimsOf(
  client: Reader,
  namespace: string,
  volumes: readonly Volume[],
): Promise<Map<string, PersistentVolumeClaim | undefined>> {
  const names = volumes.flatMap((volume) => claimOf(volume)?.claimName ?? []);
  return new Map(
    await Promise.all(names.map(async (name) => [name, await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name })] as const)),
  );
}

type Events = Required<Pick<Observed, 'events' | 'pastEvents'>>;

async function eventsOf(client: Reader, namespace: string, objects: readonly (KubeObject | undefined)[]): Promise<Events> {
  const uids = objects.flatMap((object) => object?.metadata.uid ?? []);
  const names = [...new Set(objects.flatMap((object) => object?.metadata.name ?? []))];
  const lists = await Promise.all(names.map((name) => client.list(EVENTS, { namespace, fieldSelector: `involvedObject.name=${name}` })));
  const all = lists.flatMap(({ items }) => items).sort((a, b) => Date.parse(a.lastTimestamp) - Date.parse(b.lastTimestamp));
  const isOurs = ({ involvedObject }: Event) => uids.includes(involvedObject.uid ?? '');
  const isOfInstance = ({ involvedObject }: Event) => involvedObject.kind === VMIS.kind;
  return { events: all.filter(isOurs), pastEvents: all.filter((event) => !isOurs(event) && isOfInstance(event)) };
}
