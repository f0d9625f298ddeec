/** Where the virt-handler of a node listens: its Pod says so, embedded and on a cluster. */
import { isPodFinal, PODS, type Pod } from '../api/core/pod.ts';
import { HANDLER_PORT_NAME } from '../api/handler/routes.ts';
import { INSTALL_NAMESPACE, LABEL_COMPONENT } from '../api/kubevirt/names.ts';
import { hasCondition, isDeleting } from '../api/meta.ts';
import { ApiError } from '../base/errors.ts';
import type { Client } from './client.ts';

export type HandlerAddress = { readonly host: string; readonly port: number };

/** The address of the handler on this node; throws ServiceUnavailable when there is none to talk to. */
export async function findHandler(client: Client, nodeName: string): Promise<HandlerAddress> {
  const selectors = { labelSelector: `${LABEL_COMPONENT}=virt-handler`, fieldSelector: `spec.nodeName=${nodeName}` };
  const { items } = await client.list(PODS, { namespace: INSTALL_NAMESPACE, ...selectors });
  const usable = items.filter((pod) => pod.spec.nodeName === nodeName && !isDeleting(pod) && !isPodFinal(pod));
  // during a rollout an old and a new Pod may both be there; one that is ready answers
  const ordered = usable.toSorted((a, b) => Number(isReady(b)) - Number(isReady(a)));
  for (const pod of ordered) {
    const [host, port] = [pod.status?.podIP, portOf(pod)];
    if (host && port) return { host, port };
  }
  throw new ApiError('ServiceUnavailable', `there is no virt-handler on node ${nodeName}`);
}

function isReady(pod: Pod): boolean {
  return hasCondition(pod.status?.conditions, 'Ready');
}

function portOf(pod: Pod): number | undefined {
  return pod.spec.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === HANDLER_PORT_NAME)?.containerPort;
}
