/**
 * What becomes of an instance on its way into the store:
 *
 *   new                    completed, and born Pending; a status that a user brings along is dropped
 *   changed by a user      status as it was; the new spec completed like the first, so that the same manifest is no change
 *   changed by a component as it is
 */
import type { ClusterConfiguration } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { deepEqual, isObject, type JsonObject } from '../../base/json.ts';
import { defaultVmi, defaultVmiSpec } from './default-vmi.ts';
import { defaultVmiStatus } from './default-vmi-status.ts';

type Mutation = {
  readonly operation: string;
  readonly object: JsonObject;
  /** As it was sent, when it is not that: presets have been applied. */
  readonly sent?: JsonObject;
  readonly oldObject: JsonObject | undefined;
  readonly isComponent: boolean;
  readonly newUuid: string;
  readonly configuration: ClusterConfiguration;
  /** The time, as it is written into objects. */
  readonly now: string;
};
export type PatchOperation = { readonly op: 'add' | 'replace' | 'remove'; readonly path: string; readonly value?: unknown };

/** The JSON Patch that does it; empty when nothing is to be done. */
export function decideMutation(mutation: Mutation): PatchOperation[] {
  const { operation, object, sent = object, oldObject, isComponent, now } = mutation;
  if (operation === 'CREATE') {
    const { status, ...rest } = defaultVmi(object, mutation);
    const brought = isComponent && isObject(status) ? status : {};
    return patchBetween(sent, { ...rest, status: { ...defaultVmiStatus(rest['spec'], now), ...brought } });
  }
  if (operation !== 'UPDATE' || isComponent || !oldObject) return [];
  const { status: _, ...rest } = object;
  const restored = oldObject['status'] === undefined ? rest : { ...rest, status: oldObject['status'] };
  return patchBetween(object, { ...restored, spec: completedLike(oldObject['spec'], object['spec'], mutation) });
}

function completedLike(old: unknown, spec: unknown, { newUuid, configuration }: Mutation): unknown {
  if (!isObject(spec) || deepEqual(spec, old)) return spec;
  return defaultVmiSpec(spec, { newUuid: uuidOf(old) ?? newUuid, configuration });
}

function uuidOf(spec: unknown): string | undefined {
  const domain = isObject(spec) ? spec['domain'] : undefined;
  const firmware = isObject(domain) ? domain['firmware'] : undefined;
  const uuid = isObject(firmware) ? firmware['uuid'] : undefined;
  return typeof uuid === 'string' && uuid !== '' ? uuid : undefined;
}

/** Whole fields are enough: they are replaced only where they differ. */
function patchBetween(from: JsonObject, to: JsonObject): PatchOperation[] {
  const [oldMeta, newMeta] = [from['metadata'], to['metadata']];
  const operations: PatchOperation[] = [];
  for (const field of ['annotations', 'finalizers'])
    if (isObject(oldMeta) && isObject(newMeta) && !deepEqual(oldMeta[field], newMeta[field]))
      operations.push({ op: 'add', path: `/metadata/${field}`, value: newMeta[field] });
  for (const field of ['spec', 'status']) {
    if (deepEqual(from[field], to[field])) continue;
    operations.push(to[field] === undefined ? { op: 'remove', path: `/${field}` } : { op: 'add', path: `/${field}`, value: to[field] });
  }
  return operations;
}
