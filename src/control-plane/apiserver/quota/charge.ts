/**
 * What one object counts in a quota. Everything is a whole number (of thousandths of a core, of bytes, of pieces): sums that are added
 * to and taken from for months stay exact.
 *
 *   any object                         count/PLURAL.GROUP
 *   some, by an older name, too        pods, services, secrets, configmaps, persistentvolumeclaims, ...
 *   a Pod that has not ended           requests.X, limits.X; X alone is the request
 *   a claim                            requests.storage, and both for its storage class
 *   a Service                          services.nodeports, services.loadbalancers
 */
import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import { containerLimits, containerRequests, limitsOf, type ResourceList, requestsOf } from '../../../api/core/pod-resources.ts';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { formatBytes, formatCores, parseQuantity } from '../../../base/quantity.ts';

/** Amounts by the name that a quota has for them. */
export type Charge = Readonly<Record<string, number>>;

const BY_PLURAL = ['configmaps', 'persistentvolumeclaims', 'replicationcontrollers', 'resourcequotas', 'secrets', 'services'];
const CPU = ['cpu', 'requests.cpu', 'limits.cpu'];
const IN_BYTES = /(^|\.|\/requests\.)(memory|storage|ephemeral-storage)$|hugepages-/;
/** What has a name of its own for the request: an extended resource has no other. */
const PLAIN_NAMES = ['cpu', 'memory', 'ephemeral-storage'];
/** Where a quota has one of these, every container must say how much. */
const TO_BE_SPECIFIED = ['cpu', 'memory', 'requests.cpu', 'requests.memory', 'limits.cpu', 'limits.memory'];

/** Of the object that the store keeps under `group/plural/`; `value` is read only where the kind alone does not say it all. */
export function chargeOf(group: string, plural: string, value: () => unknown): Charge {
  const counted = { [`count/${group === 'core' ? plural : `${plural}.${group}`}`]: 1 };
  if (group !== 'core') return counted;
  if (plural === 'pods') return { ...counted, ...podCharge(value() as Pod) }; // as stored: the schema has checked it
  const named = BY_PLURAL.includes(plural) ? { ...counted, [plural]: 1 } : counted;
  if (plural === 'persistentvolumeclaims') return { ...named, ...claimCharge(value() as PersistentVolumeClaim) }; // as above
  if (plural === 'services') return { ...named, ...serviceCharge(value() as { spec?: ServiceSpec }) }; // as above
  return named;
}

/** `cpu for: a,b; memory for: a` of what this quota needs to know of every container; undefined when all is said. */
export function unspecified({ spec }: Pod, hard: readonly string[]): string | undefined {
  const needed = hard.filter((name) => TO_BE_SPECIFIED.includes(name)).sort();
  const containers = [...spec.containers, ...(spec.initContainers ?? [])];
  const said = needed.length === 0 ? [] : containers.map((each) => ({ name: each.name, charge: containerCharge(each) }));
  const missing = needed.flatMap((resource) => {
    const without = said.filter(({ charge }) => !(resource in charge)).map(({ name }) => name);
    return without.length === 0 ? [] : [`${resource} for: ${without.sort().join(',')}`];
  });
  return missing.length === 0 ? undefined : missing.join('; ');
}

/** The whole number for a quantity of this resource. */
export function amountOf(resource: string, quantity: string | number): number {
  return whole(resource, parseQuantity(quantity) ?? 0);
}

/** As Kubernetes writes it. */
export function formatAmount(resource: string, amount: number): string {
  if (CPU.includes(resource)) return formatCores(amount / 1000);
  return IN_BYTES.test(resource) ? formatBytes(amount) : String(amount);
}

function whole(resource: string, amount: number): number {
  const scaled = CPU.includes(resource) ? amount * 1000 : amount;
  return Math.ceil(scaled - 1e-6); // 0.07 cores are 70.00000000000001 thousandths
}

function podCharge(pod: Pod): Charge {
  if (isPodFinal(pod)) return {};
  const { pods: _, ...requests } = requestsOf(pod);
  return { pods: 1, ...computeCharge(requests, limitsOf(pod)) };
}

function containerCharge(container: Pod['spec']['containers'][number]): Charge {
  return computeCharge(containerRequests(container), containerLimits(container));
}

function computeCharge(requests: ResourceList, limits: ResourceList): Charge {
  const charge: Record<string, number> = {};
  for (const [name, amount] of Object.entries(requests)) {
    charge[`requests.${name}`] = whole(`requests.${name}`, amount);
    if (PLAIN_NAMES.includes(name) || name.startsWith('hugepages-')) charge[name] = whole(name, amount);
  }
  for (const [name, amount] of Object.entries(limits)) charge[`limits.${name}`] = whole(`limits.${name}`, amount);
  return charge;
}

function claimCharge({ spec }: PersistentVolumeClaim): Charge {
  const storage = amountOf('requests.storage', spec?.resources?.requests?.['storage'] ?? 0);
  const ofClass = `${spec?.storageClassName}.storageclass.storage.k8s.io`;
  const byClass = spec?.storageClassName ? { [`${ofClass}/requests.storage`]: storage, [`${ofClass}/persistentvolumeclaims`]: 1 } : {};
  return { 'requests.storage': storage, ...byClass };
}

type ServiceSpec = { readonly type?: string; readonly ports?: readonly unknown[]; readonly allocateLoadBalancerNodePorts?: boolean };

function serviceCharge({ spec = {} }: { spec?: ServiceSpec }): Charge {
  const isBalanced = spec.type === 'LoadBalancer';
  const hasNodePorts = spec.type === 'NodePort' || (isBalanced && spec.allocateLoadBalancerNodePorts !== false);
  return { 'services.loadbalancers': isBalanced ? 1 : 0, 'services.nodeports': hasNodePorts ? (spec.ports?.length ?? 0) : 0 };
}
