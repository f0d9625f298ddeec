/**
 * What the LimitRanges of a namespace make of a new object, and whether they let it in:
 *
 *   a container that says nothing       gets the default request and limit
 *   a container, a Pod together         least, most, and how far a limit may be above its request
 *   a claim, new or changed             least and most storage
 */
import { type Container, isPodFinal, type Pod } from '../../../api/core/pod.ts';
import { limitsOf, type ResourceList, requestsOf } from '../../../api/core/pod-resources.ts';
import type { LimitRange, LimitRangeItem, Quantities } from '../../../api/core/resource-quota.ts';
import type { PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Store } from '../../store/store.ts';
import { qosClass } from '../kinds/pod.ts';
import { formatAmount } from '../quota/charge.ts';
import { forbidden } from '../response/api-errors.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { brokenBounds } from './bounds.ts';

const ANNOTATION = 'kubernetes.io/limit-ranger';

type Request = AdmissionAttributes & { readonly object: AnyObject };

/** The Pod with what its containers leave to the namespace; other objects as they are. */
export function withLimitDefaults(store: Store, request: Request): AnyObject {
  const items = isNewPod(request) ? itemsFor(store, request, 'Container') : [];
  const pod = request.object as unknown as Pod; // only Pods come further, and the schema has checked their shape
  let changed = pod;
  const told: string[] = [];
  for (const item of items) {
    const fill = (kind: string) => (container: Container) => filled(container, item, { kind, told });
    const containers = changed.spec.containers.map(fill('container'));
    const initContainers = changed.spec.initContainers?.map(fill('init container'));
    changed = { ...changed, spec: { ...changed.spec, containers, ...(initContainers && { initContainers }) } };
  }
  if (told.length === 0) return request.object;
  const annotations = { ...pod.metadata.annotations, [ANNOTATION]: `LimitRanger plugin set: ${told.join('; ')}` };
  const status = { ...pod.status, qosClass: qosClass(changed) };
  return { ...changed, metadata: { ...pod.metadata, annotations }, status } as unknown as AnyObject; // a Pod is an object
}

/** Throws Forbidden with every bound that the object breaks. */
export function assertWithinLimits(store: Store, request: AdmissionAttributes): void {
  const broken = isNewPod(request) ? brokenByPod(store, request) : isWrittenClaim(request) ? brokenByClaim(store, request) : [];
  if (broken.length === 0) return;
  throw forbidden(request.type, request.name, broken.length === 1 ? String(broken[0]) : `[${broken.join(', ')}]`);
}

function isNewPod({ type, operation, subresource }: AdmissionAttributes): boolean {
  return type.group === '' && type.plural === 'pods' && operation === 'CREATE' && subresource === undefined;
}

function isWrittenClaim({ type, operation, subresource }: AdmissionAttributes): boolean {
  return type.group === '' && type.plural === 'persistentvolumeclaims' && operation !== 'DELETE' && subresource === undefined;
}

function itemsFor(store: Store, { namespace = '' }: AdmissionAttributes, type: string): LimitRangeItem[] {
  const ranges = store.list(`core/limitranges/${namespace}/`).map(({ value }) => value as unknown as LimitRange); // as stored
  return ranges.flatMap(({ spec }) => spec?.limits ?? []).filter((item) => item.type === type);
}

/** Where only a limit is given, it is the request too, and no default is asked for. */
function requestTexts({ resources }: Container): Quantities {
  return { ...resources?.limits, ...resources?.requests };
}

function filled(container: Container, item: LimitRangeItem, { kind, told }: { kind: string; told: string[] }): Container {
  const requests = missingFrom(requestTexts(container), item.defaultRequest);
  const limits = missingFrom(container.resources?.limits, item.default);
  const names = { request: Object.keys(requests).sort(), limit: Object.keys(limits).sort() };
  for (const [what, set] of Object.entries(names)) if (set.length > 0) told.push(`${set.join(', ')} ${what} for ${kind} ${container.name}`);
  if (names.request.length + names.limit.length === 0) return container;
  const resources = {
    ...container.resources,
    requests: { ...requestTexts(container), ...requests },
    limits: { ...container.resources?.limits, ...limits },
  };
  return { ...container, resources };
}

function missingFrom(said: Quantities = {}, defaults: Quantities = {}): Quantities {
  return Object.fromEntries(Object.entries(defaults).filter(([name]) => !(name in said)));
}

function brokenByPod(store: Store, request: AdmissionAttributes): string[] {
  const pod = request.object as unknown as Pod; // as above
  if (isPodFinal(pod)) return [];
  const containers = [...pod.spec.containers, ...(pod.spec.initContainers ?? [])];
  const ofContainers = itemsFor(store, request, 'Container').flatMap((item) =>
    containers.flatMap((each) => brokenBounds(item, { requests: requestTexts(each), limits: each.resources?.limits ?? {} })),
  );
  const ofPod = itemsFor(store, request, 'Pod').flatMap((item) =>
    brokenBounds(item, { requests: textsOf(requestsOf(pod)), limits: textsOf(limitsOf(pod)) }),
  );
  return [...ofContainers, ...ofPod];
}

function brokenByClaim(store: Store, request: AdmissionAttributes): string[] {
  const spec = specOfClaim(request.object);
  if (request.oldObject && deepEqual(specOfClaim(request.oldObject).resources, spec.resources)) return [];
  return itemsFor(store, request, 'PersistentVolumeClaim').flatMap((item) =>
    brokenBounds(item, { requests: spec.resources?.requests ?? {}, limits: undefined }),
  );
}

function specOfClaim(object: AnyObject | undefined): PersistentVolumeClaim['spec'] {
  return (object as unknown as PersistentVolumeClaim | undefined)?.spec ?? {}; // only claims come here
}

function textsOf(amounts: ResourceList): Quantities {
  const scale = (name: string, amount: number) => (name === 'cpu' ? Math.ceil(amount * 1000 - 1e-6) : Math.ceil(amount - 1e-6));
  return Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, formatAmount(name, scale(name, amount))]));
}
