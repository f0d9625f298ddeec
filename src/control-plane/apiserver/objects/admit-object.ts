/** From what a client sent to what may be stored: the right kind, known fields only, defaults filled in, every rule kept. */
import { apiVersionOf } from '../../../api/resource.ts';
import { ApiError, type StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { assertMayGrant } from '../access/assert-may-grant.ts';
import { assertOwnOfNode } from '../access/node-restriction.ts';
import { withServiceAccount } from '../access/service-account-of-pod.ts';
import { ruleCauses } from '../cel/validation-rules.ts';
import { withPriority } from '../kinds/priority-class.ts';
import { assertWithinLimits, withLimitDefaults } from '../limit-range/apply-limit-ranges.ts';
import { assertPodSecurity } from '../pod-security/assert-pod-security.ts';
import { fieldValidation } from '../request/query.ts';
import { invalid } from '../response/api-errors.ts';
import { applyDefaults } from '../schema/defaults.ts';
import { prune } from '../schema/prune.ts';
import { validate } from '../schema/validate.ts';
import type { AdmissionAttributes, Call } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { validateMetaUpdate, validateObjectMeta } from './object-meta-rules.ts';

/** Of unknown fields so many are told of by name: a header has to hold them. */
const MAX_UNKNOWN_TOLD = 50;

/** The body as an object of the kind its URL names, with its unknown fields refused, warned about or dropped. */
export function asTyped(call: Call, body: JsonObject): AnyObject {
  const { type } = call;
  const expected = { apiVersion: apiVersionOf(type), kind: type.kind };
  for (const field of ['apiVersion', 'kind'] as const) {
    const said = body[field];
    if (said !== undefined && said !== null && typeof said !== 'string') throw undecodable(call, `${field} is not a string`);
    if (said && said !== expected[field]) {
      const provided = field === 'kind' ? `kind (${said})` : `API version (${said})`;
      const wanted = field === 'kind' ? `kind (${expected.kind})` : `API version (${expected.apiVersion})`;
      throw new ApiError('BadRequest', `the ${provided} in the data does not match the expected ${wanted}`);
    }
  }
  const metadata = body['metadata'] ?? {};
  if (!isObject(metadata)) throw undecodable(call, 'metadata is not an object');
  for (const field of ['name', 'namespace', 'generateName', 'resourceVersion', 'uid']) {
    const value = metadata[field];
    if (value !== undefined && value !== null && typeof value !== 'string') throw undecodable(call, `metadata.${field} is not a string`);
  }
  return completed(call, { ...expected, ...body, ...expected, metadata });
}

function undecodable({ type: { kind, version } }: Call, why: string): ApiError {
  return new ApiError('BadRequest', `${kind} in version "${version}" cannot be handled as a ${kind}: ${why}`);
}

/** Prunes and defaults by schema; also what a changed object goes through after patching and admission. What is as it was in `old` stays as it is. */
export function completed(call: Call, object: JsonObject, old?: AnyObject): AnyObject {
  const { schema } = call.type;
  if (!schema) return object as AnyObject; // asTyped has given it apiVersion, kind and metadata
  const { value, unknown } = prune(schema, object, old);
  reportUnknown(call, unknown);
  return applyDefaults(schema, value, old) as AnyObject;
}

function reportUnknown(call: Call, unknown: readonly string[]): void {
  if (unknown.length === 0) return;
  const texts = unknown.slice(0, MAX_UNKNOWN_TOLD).map((field) => `unknown field ${JSON.stringify(field)}`);
  if (unknown.length > texts.length) texts.push(`and ${unknown.length - texts.length} more`);
  switch (fieldValidation(call.query)) {
    case 'Ignore':
      return;
    case 'Warn':
      call.warnings.push(...texts);
      return;
    case 'Strict':
      throw undecodable(call, `strict decoding error: ${texts.join(', ')}`);
  }
}

/** Throws BadRequest when a built-in kind cannot be read: it is not an object yet, and no rule of its kind may look at it. */
export function assertReadable(call: Call, object: AnyObject, old?: AnyObject): void {
  if (call.type.isBuiltIn) refuseMistyped(call, malformedIn(call, object, old));
}

function malformedIn({ type: { schema } }: Call, object: AnyObject, old: AnyObject | undefined): readonly StatusCause[] {
  return schema ? validate(schema, object, old) : [];
}

function refuseMistyped(call: Call, malformed: readonly StatusCause[]): void {
  const mistyped = malformed.find(({ reason }) => reason === 'FieldValueTypeInvalid');
  if (mistyped) throw undecodable(call, `${mistyped.field}: ${mistyped.message}`);
}

/** Throws Invalid with every rule the object breaks. */
export function assertValid(call: Call, object: AnyObject, old: AnyObject | undefined): void {
  const { type } = call;
  const malformed = malformedIn(call, object, old);
  if (type.isBuiltIn) refuseMistyped(call, malformed);
  // The other rules may rely on the types that the schema promises.
  const ofMeta = malformed.some(({ field }) => field.startsWith('metadata'))
    ? []
    : [...validateObjectMeta(type, object), ...(old ? validateMetaUpdate(object, old) : [])];
  const ofKind = malformed.length === 0 ? (type.strategy.validate?.(object, old, call.path.subresource) ?? []) : [];
  const ofRules = malformed.length === 0 && type.schema && !type.isBuiltIn ? ruleCauses(type.schema, object, old) : [];
  const causes = [...ofMeta, ...malformed, ...ofKind, ...ofRules];
  if (causes.length > 0) throw invalid(type, object.metadata.name, causes);
}

/** Asks mutating admission; what it changed is pruned and defaulted again. */
export async function mutated(call: Call, request: AdmissionAttributes & { object: AnyObject }): Promise<AnyObject> {
  const { admission } = call.parts.hooks;
  const account = await withServiceAccount(call.parts, request);
  const ranked = withPriority(call.parts.store, { ...request, object: account });
  const own = withLimitDefaults(call.parts.store, { ...request, object: ranked });
  const before = own === request.object ? own : completed(call, own);
  if (!admission) return before;
  const { object, warnings } = await admission.mutate({ ...request, object: before });
  call.warnings.push(...warnings);
  return object === before ? object : completed(call, object);
}

/** Asks our own rules about who may write what, then validating admission. */
export async function assertAdmitted(call: Call, request: AdmissionAttributes): Promise<void> {
  assertMayGrant(call.parts, request);
  assertOwnOfNode(request);
  assertPodSecurity(call.parts.store, request);
  assertWithinLimits(call.parts.store, request);
  const { admission } = call.parts.hooks;
  if (!admission) return;
  const { warnings } = await admission.validate(request);
  call.warnings.push(...warnings);
}
