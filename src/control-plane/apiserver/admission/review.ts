/** The question put to a webhook, and what its answer means. */
import { ApiError, STATUS_CODES, type StatusDetails, type StatusReason } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { applyJsonPatch } from '../patch/json-patch.ts';
import type { AdmissionAttributes } from '../server-parts.ts';
import type { AnyObject } from '../types/resource-type.ts';
import { subresourceKind } from '../types/subresource-kinds-table.ts';

export type Verdict = { readonly patch: unknown; readonly warnings: readonly string[] };

const OPTIONS_KIND = { CREATE: 'CreateOptions', UPDATE: 'UpdateOptions', DELETE: 'DeleteOptions' } as const;
/** Longer texts would not fit into response headers. */
const MAX_WARNINGS = 20;

/** The AdmissionReview for one webhook; `version` is the one it asked for. */
export function reviewOf(request: AdmissionAttributes, { uid, version }: { uid: string; version: string }): JsonObject {
  const { type, operation, identity, subresource, isDryRun } = request;
  const { group } = type;
  // What is sent to some subresources is of a kind of its own.
  const kindOfIt = subresource === undefined ? undefined : subresourceKind(subresource);
  const own = kindOfIt?.kind === request.object?.kind ? kindOfIt : undefined;
  const subResource = subresource === undefined ? {} : { subResource: subresource, requestSubResource: subresource };
  return {
    kind: 'AdmissionReview',
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid,
      kind: own ?? { group, version, kind: type.kind },
      resource: { group, version, resource: type.plural },
      requestKind: own ?? { group, version: type.version, kind: type.kind },
      requestResource: { group, version: type.version, resource: type.plural },
      ...subResource,
      name: request.name,
      ...(request.namespace !== undefined && { namespace: request.namespace }),
      operation,
      userInfo: {
        username: identity.user,
        ...(identity.uid !== undefined && { uid: identity.uid }),
        groups: identity.groups,
        ...(identity.extra && { extra: identity.extra }),
      },
      object: (own ? request.object : inVersion(request.object, type.group, version)) ?? null,
      oldObject: (own ? request.oldObject : inVersion(request.oldObject, type.group, version)) ?? null,
      dryRun: isDryRun,
      options: { kind: OPTIONS_KIND[operation], apiVersion: 'meta.k8s.io/v1', ...(isDryRun && { dryRun: ['All'] }) },
    },
  };
}

/** The same object under another version of its kind: all versions of a custom kind have one shape. */
function inVersion<T extends AnyObject | undefined>(object: T, group: string, version: string): T {
  const apiVersion = group === '' ? version : `${group}/${version}`;
  return object === undefined || object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

/** Reads an answer. A denial is thrown as the ApiError to answer with; an answer that breaks the protocol as any other error. */
export function verdictOf(answer: unknown, { uid, webhook }: { uid: string; webhook: string }): Verdict {
  const response = isObject(answer) && answer['kind'] === 'AdmissionReview' ? answer['response'] : undefined;
  if (!isObject(response)) throw new Error('the answer is not an AdmissionReview with a response');
  if (response['uid'] !== uid) throw new Error(`the answer has uid ${JSON.stringify(response['uid'])}, expected ${JSON.stringify(uid)}`);
  if (typeof response['allowed'] !== 'boolean') throw new Error('the answer does not say whether the request is allowed');
  if (!response['allowed']) throw denial(webhook, isObject(response['status']) ? response['status'] : {});
  const { patch, patchType, warnings } = response;
  if (patch !== undefined && patch !== null && patchType !== 'JSONPatch')
    throw new Error(`patchType is ${JSON.stringify(patchType)}, only JSONPatch is known`);
  const texts = Array.isArray(warnings) ? warnings.filter((text) => typeof text === 'string').slice(0, MAX_WARNINGS) : [];
  return { patch: decoded(patch), warnings: texts };
}

function decoded(patch: unknown): unknown {
  if (patch === undefined || patch === null || patch === '') return undefined;
  if (typeof patch !== 'string') throw new Error('the patch is not base64 text');
  return JSON.parse(Buffer.from(patch, 'base64').toString('utf8'));
}

function denial(webhook: string, { code, reason, message, details }: JsonObject): ApiError {
  const known = Object.entries(STATUS_CODES) as [StatusReason, number][];
  const status = typeof code === 'number' && code >= 400 && code <= 599 ? code : undefined;
  const word = known.find(([word]) => word === reason) ?? known.find(([, number]) => number === status) ?? ['Forbidden', 403];
  const text =
    typeof message === 'string' && message !== '' ? `: ${message}` : typeof reason === 'string' ? `: ${reason}` : ' without explanation';
  return new ApiError(word[0], `admission webhook "${webhook}" denied the request${text}`, {
    code: status ?? word[1],
    details: isObject(details) ? (details as StatusDetails) : undefined, // passed on as it came
  });
}

/** The object after a webhook's patch, back in the version of the request. */
export function patched(request: AdmissionAttributes & { object: AnyObject }, version: string, patch: unknown): AnyObject {
  const { type, object } = request;
  const result = applyJsonPatch(inVersion(object, type.group, version), patch);
  if (!isObject(result['metadata'])) throw new Error('the patch takes the metadata away');
  return inVersion(result as AnyObject, type.group, type.version); // apiVersion, kind and metadata are there
}
