/** What virt-handler copies from the API, once for all its loops, with indexes by which each finds what concerns it without looking through all. */
import { PODS, type Pod } from '../api/core/pod.ts';
import { SERVICES, type Service } from '../api/core/service.ts';
import { type VirtualMachineInstance, VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_MIGRATION_TARGET_NODE, LABEL_NODE_NAME } from '../api/kubevirt/names.ts';
import { controllerOf, type KubeObject, keyOf } from '../api/meta.ts';
import type { Clock } from '../base/clock.ts';
import type { Logger } from '../base/log.ts';
import { type Cache, startCache } from '../client/cache.ts';
import type { Client } from '../client/client.ts';

export type NodeCaches = {
  /** Those that were handed to this node. */
  readonly vmis: Cache<VirtualMachineInstance>;
  /** Those of this node, by `POD_INDEXES`. */
  readonly pods: Cache<Pod>;
  /** All of the cluster, by `SERVICE_INDEXES`. */
  readonly services: Cache<Service>;
};
/** And the instances that are being moved to this node. */
export type AllNodeCaches = NodeCaches & { readonly incoming: Cache<VirtualMachineInstance> };
export type NodeCachesOptions = {
  readonly client: Client;
  readonly nodeName: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly signal: AbortSignal;
};

export const POD_INDEXES = {
  /** The uid of the VMI that manages the Pod. */
  owner: (pod: Pod): readonly string[] => ownerOf(pod)?.map(({ uid }) => uid) ?? [],
  /** Each label of a Pod with a guest, as `labelIn` writes it. */
  label: (pod: Pod): readonly string[] =>
    ownerOf(pod) ? Object.entries(pod.metadata.labels ?? {}).map((label) => labelIn(pod.metadata.namespace, label)) : [],
};

export const SERVICE_INDEXES = {
  /** One of the labels that the Service asks for: Pods without it are none of its Pods. */
  selects: ({ metadata, spec }: Service): readonly string[] =>
    Object.entries(spec.selector ?? {})
      .slice(0, 1)
      .map((label) => labelIn(metadata.namespace, label)),
};

/** Copies until the signal aborts. */
export function startNodeCaches({ nodeName, ...common }: NodeCachesOptions): AllNodeCaches {
  return {
    vmis: startCache({ ...common, resource: VMIS, labelSelector: `${LABEL_NODE_NAME}=${nodeName}` }),
    incoming: startCache({ ...common, resource: VMIS, labelSelector: `${LABEL_MIGRATION_TARGET_NODE}=${nodeName}` }),
    pods: startCache({ ...common, resource: PODS, fieldSelector: `spec.nodeName=${nodeName}`, indexes: POD_INDEXES }),
    services: startCache({ ...common, resource: SERVICES, indexes: SERVICE_INDEXES }),
  };
}

/** A label of a namespace as a value of an index. */
export function labelIn(namespace: string | undefined, [name, value]: readonly [string, string]): string {
  return `${namespace}/${name}=${value}`;
}

/** The key of the VMI itself. */
export function ownKey({ metadata }: KubeObject): readonly string[] {
  return [keyOf(metadata)];
}

/** The key of the VMI that manages a Pod. */
export function keyOfOwner(pod: KubeObject): readonly string[] {
  return ownerOf(pod)?.map(({ name }) => keyOf({ namespace: pod.metadata.namespace, name })) ?? [];
}

function ownerOf(pod: KubeObject) {
  const owner = controllerOf(pod);
  return owner?.kind === 'VirtualMachineInstance' ? [owner] : undefined;
}
