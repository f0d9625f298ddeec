/** The scale subresource: how many replicas are wanted and there are, in one form for every kind that has replicas. */

import { apiVersionOf } from '../../../api/resource.ts';
import { invalidCause } from '../../../base/causes.ts';
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { changeObject } from '../objects/change-object.ts';
import { APPLY_TYPE, applyPatch } from '../patch/apply-patch.ts';
import { decodeBody, mediaTypeOf, readBody } from '../request/decode-body.ts';
import { parseJson, parseYaml } from '../request/parse-text.ts';
import { assertApplyOptions } from '../request/query.ts';
import { invalid, unknownPath } from '../response/api-errors.ts';
import { respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import type { AnyObject, ScalePaths } from '../types/resource-type.ts';
import { applyObject } from '../verbs/apply.ts';
import { convertedObject } from '../verbs/get.ts';

export async function getScale(call: Call): Promise<Response> {
  return respondScale(call, await convertedObject(call));
}

export async function updateScale(call: Call): Promise<Response> {
  const body = await decodeBody(call.request);
  if (!body) throw new ApiError('BadRequest', 'the request has no body: send a Scale');
  return respondScale(call, await changeObject(call, (old) => withScale(call, old, body), { subresource: undefined }));
}

export async function patchScale(call: Call): Promise<Response> {
  const contentType = mediaTypeOf(call.request);
  if (contentType === APPLY_TYPE) return applyScale(call);
  const patch = parseJson(await readBody(call.request));
  const change = (old: AnyObject) => {
    // A Scale has no lists: strategic merge is plain merge here.
    const type = contentType === 'application/strategic-merge-patch+json' ? 'application/merge-patch+json' : contentType;
    return withScale(call, old, applyPatch({ contentType: type, patch, target: scaleOf(call, old) }));
  };
  return respondScale(call, await changeObject(call, change, { subresource: undefined }));
}

/** Whoever applies a Scale owns the replicas of the object. */
async function applyScale(call: Call): Promise<Response> {
  assertApplyOptions(call.query);
  const scale = parseYaml(await readBody(call.request));
  if (!isObject(scale) || scale['kind'] !== 'Scale') throw new ApiError('BadRequest', 'send a Scale to apply');
  const { replicas } = isObject(scale['spec']) ? scale['spec'] : {};
  const stated = { apiVersion: apiVersionOf(call.type), kind: call.type.kind, metadata: { name: call.path.name } };
  const applied = replicas === undefined ? stated : withValue(stated, pathsOf(call).specReplicas.split('.'), replicas);
  const { object } = await applyObject(call, applied, undefined);
  return respondScale(call, object);
}

function respondScale(call: Call, object: AnyObject): Response {
  return respondObject(call, scaleOf(call, object));
}

function pathsOf({ type }: Call): ScalePaths {
  if (!type.scale) throw unknownPath();
  return type.scale;
}

function scaleOf(call: Call, object: AnyObject): AnyObject {
  const { specReplicas, statusReplicas, labelSelector } = pathsOf(call);
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const selector = labelSelector === undefined ? undefined : selectorText(at(object, labelSelector));
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: Number(at(object, specReplicas) ?? 0) },
    status: { replicas: Number(at(object, statusReplicas) ?? 0), ...(selector && { selector }) },
  };
}

/** The object with the replicas of the Scale; the Scale's version and uid bind the write as the object's own would. */
function withScale(call: Call, old: AnyObject, scale: JsonObject): AnyObject {
  const spec = isObject(scale['spec']) ? scale['spec'] : {};
  const replicas = spec['replicas'] ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas) || replicas < 0) {
    const why = 'must be greater than or equal to 0';
    throw invalid({ kind: 'Scale', group: 'autoscaling' }, old.metadata.name, [invalidCause('spec.replicas', replicas, why)]);
  }
  const metadata = isObject(scale['metadata']) ? scale['metadata'] : {};
  const changed = withValue(old, pathsOf(call).specReplicas.split('.'), replicas) as AnyObject; // a field below spec changed
  const { uid = old.metadata.uid, resourceVersion = old.metadata.resourceVersion } = metadata as { uid?: string; resourceVersion?: string };
  return { ...changed, metadata: { ...old.metadata, uid, resourceVersion } };
}

function at(value: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

function withValue(value: unknown, [key = '', ...rest]: readonly string[], leaf: unknown): JsonObject {
  const object = isObject(value) ? value : {};
  return { ...object, [key]: rest.length === 0 ? leaf : withValue(object[key], rest, leaf) };
}

/** Selectors come as text (CRDs), as a map (ReplicationController) or as a label selector. */
function selectorText(selector: unknown): string {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return '';
  const { matchLabels, matchExpressions } = selector;
  if (matchLabels === undefined && matchExpressions === undefined) return equalities(selector);
  const expressions = (Array.isArray(matchExpressions) ? matchExpressions.filter(isObject) : []).map(({ key, operator, values }) => {
    const list = Array.isArray(values) ? `(${values.join(',')})` : '';
    if (operator === 'Exists') return String(key);
    if (operator === 'DoesNotExist') return `!${key}`;
    return `${key} ${operator === 'In' ? 'in' : 'notin'} ${list}`;
  });
  return [equalities(isObject(matchLabels) ? matchLabels : {}), ...expressions].filter((term) => term !== '').join(',');
}

function equalities(labels: JsonObject): string {
  return Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(',');
}
