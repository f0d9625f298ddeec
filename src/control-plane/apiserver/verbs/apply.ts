/** PATCH with application/apply-patch+yaml: server-side apply of an object or of its status, which creates what is not there. */
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError, isApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { authorize } from '../access/authorize.ts';
import { applyTo } from '../apply/apply-request.ts';
import { writerOf } from '../apply/record-write.ts';
import { completed } from '../objects/admit-object.ts';
import { changeObject } from '../objects/change-object.ts';
import { createObject } from '../objects/create-object.ts';
import { assertNamespaceActive } from '../objects/namespace-lifecycle.ts';
import { readBody } from '../request/decode-body.ts';
import { assertBounded, parseYaml } from '../request/parse-text.ts';
import { assertApplyOptions, isForced } from '../request/query.ts';
import { reportDuplicates } from '../request/typed-body.ts';
import { conflict, notFound } from '../response/api-errors.ts';
import { respondObject } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';

const MAX_TRIES = 5;

export async function apply(call: Call): Promise<Response> {
  assertApplyOptions(call.query);
  const bytes = await readBody(call.request);
  const body = parseYaml(bytes);
  reportDuplicates(call, bytes);
  const applied = appliedObject(call, body);
  const { object, code } = await applyObject(call, applied);
  return respondObject(call, object, code);
}

/** What the request states, about the object that its URL names. */
function appliedObject({ type, path }: Call, body: unknown): JsonObject {
  if (!isObject(body)) throw new ApiError('BadRequest', 'error decoding YAML: the body of an apply must be an object');
  const { apiVersion, kind } = body;
  if (apiVersion !== apiVersionOf(type) || kind !== type.kind) {
    const said = String(apiVersion ?? '');
    throw new ApiError('BadRequest', `invalid object type: ${said.includes('/') ? said : `/${said}`}, Kind=${kind ?? ''}`);
  }
  const metadata = body['metadata'] ?? {};
  if (!isObject(metadata)) throw new ApiError('BadRequest', 'metadata is not an object');
  if (Array.isArray(metadata['managedFields']) && metadata['managedFields'].length > 0) {
    throw new ApiError('BadRequest', 'metadata.managedFields must be nil');
  }
  const { name = path.name, namespace = path.namespace } = metadata;
  if (name !== path.name) {
    throw new ApiError('BadRequest', `the name of the object (${name}) does not match the name on the URL (${path.name})`);
  }
  if (namespace !== path.namespace) {
    throw new ApiError('BadRequest', 'the namespace of the provided object does not match the namespace sent on the request');
  }
  return { ...body, metadata };
}

/** Applies what was stated until nobody was faster; `label` is where ownership is recorded. */
export async function applyObject(
  call: Call,
  applied: JsonObject,
  subresource = call.path.subresource,
): Promise<{ readonly object: AnyObject; readonly code: 200 | 201 }> {
  const { type, path, parts } = call;
  const name = path.name ?? '';
  for (let tries = 1; ; tries += 1) {
    try {
      const isThere = parts.store.get(storeKey(type, path.namespace, name)) !== undefined;
      if (isThere) return { object: await changeApplied(call, applied, subresource), code: 200 };
      if (path.subresource !== undefined) throw notFound(type, name);
      return { object: await createApplied(call, applied), code: 201 };
    } catch (error) {
      const isLost = isApiError(error, 'AlreadyExists') && tries < MAX_TRIES; // somebody created it meanwhile
      if (!isLost) throw error;
    }
  }
}

function changeApplied(call: Call, applied: JsonObject, subresource: string | undefined): Promise<AnyObject> {
  const writer = writerOf(call, 'Apply');
  const change = (live: AnyObject) => {
    const merged = applyTo({ type: call.type, live, applied, writer, isForced: isForced(call.query) });
    assertBounded(merged);
    return completed(call, merged);
  };
  return changeObject(call, change, { subresource, recorded: ({ wanted }) => wanted.metadata.managedFields });
}

async function createApplied(call: Call, applied: JsonObject): Promise<AnyObject> {
  const { type, path, parts, identity } = call;
  const name = path.name ?? '';
  const { group, plural: resource } = type;
  authorize(parts.rules, identity, {
    type: 'resource',
    verb: 'create',
    group,
    resource,
    subresource: undefined,
    namespace: path.namespace,
    name,
  });
  assertNamespaceActive(call, name);
  const made = applyTo({ type, live: undefined, applied, writer: writerOf(call, 'Apply'), isForced: true });
  if (!made.metadata.name) {
    throw new ApiError('BadRequest', `the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  const { uid } = made.metadata;
  if (uid) throw conflict(type, name, `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`);
  const sent = completed(call, made);
  return createObject(call, sent, made.metadata.managedFields);
}
