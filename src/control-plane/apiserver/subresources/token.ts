/** POST serviceaccounts/token: a token for a service account, bound to a Pod or a Secret if one is named. */
import type { Pod } from '../../../api/core/pod.ts';
import { invalidCause } from '../../../base/causes.ts';
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { timestamp } from '../../../base/timestamp.ts';
import { isMirror, nodeOf } from '../access/node-restriction.ts';
import type { Wanted } from '../access/service-account-tokens.ts';
import { decodeBody } from '../request/decode-body.ts';
import { conflict, forbidden, invalid, notFound, unknownPath } from '../response/api-errors.ts';
import { respondJson } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { type AnyObject, storeKey } from '../types/resource-type.ts';
import { currentObject } from '../verbs/get.ts';

const MIN_SECONDS = 600;
const DEFAULT_SECONDS = 3600;
/** More is granted to nobody: a token that leaks ends by itself. */
const MAX_SECONDS = 48 * 3600;
const BINDABLE: Readonly<Record<string, 'pod' | 'secret'>> = { Pod: 'pod', Secret: 'secret' };

export async function createToken(call: Call): Promise<Response> {
  const { tokens } = call.parts;
  if (!tokens) throw unknownPath();
  const body = (await decodeBody(call.request)) ?? {};
  const serviceAccount = currentObject(call);
  const spec = isObject(body['spec']) ? body['spec'] : {};
  const boundTo = boundObject(call, serviceAccount, spec);
  const audiences = Array.isArray(spec['audiences']) ? spec['audiences'].map(textOf) : [];
  const expirationSeconds = secondsOf(call, spec['expirationSeconds']);
  const { token, expirationSecond } = tokens.issue({ serviceAccount, audiences, expirationSeconds, boundTo });
  const { name, namespace } = serviceAccount.metadata;
  return respondJson(
    {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, creationTimestamp: timestamp(call.parts.clock.now()) },
      spec: { ...spec, expirationSeconds },
      status: { token, expirationTimestamp: timestamp(expirationSecond * 1000) },
    },
    { status: 201, request: call.request },
  );
}

function secondsOf(call: Call, wanted: unknown): number {
  const seconds = wanted ?? DEFAULT_SECONDS;
  if (typeof seconds !== 'number' || !Number.isInteger(seconds) || seconds < MIN_SECONDS) {
    const causes = [invalidCause('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes')];
    throw invalid({ kind: 'TokenRequest', group: 'authentication.k8s.io' }, call.path.name ?? '', causes);
  }
  return Math.min(seconds, MAX_SECONDS);
}

function boundObject(call: Call, serviceAccount: AnyObject, { boundObjectRef }: JsonObject): Wanted['boundTo'] {
  const node = nodeOf(call.identity);
  if (!isObject(boundObjectRef)) {
    if (node !== undefined) throw forbidden(call.type, call.path.name, `node "${node}" requested a token that is not bound to a Pod`);
    return undefined;
  }
  const { uid } = boundObjectRef;
  const wantedKind = textOf(boundObjectRef['kind']);
  const name = textOf(boundObjectRef['name']);
  const kind = BINDABLE[wantedKind];
  if (!kind) throw new ApiError('BadRequest', `cannot bind token to object of type ${wantedKind}`);
  const type = { group: '', plural: `${kind}s` };
  const object = call.parts.store.get(storeKey(type, call.path.namespace, name))?.value as AnyObject | undefined; // every stored value has metadata
  if (!object) throw notFound(type, name);
  if (uid && uid !== object.metadata.uid) {
    throw conflict(type, name, `the UID in the bound object reference (${uid}) does not match the UID in record (${object.metadata.uid})`);
  }
  if (kind === 'pod') assertRunsAs(object as unknown as Pod, serviceAccount.metadata.name); // its shape was checked by the schema
  if (node !== undefined && (kind !== 'pod' || (object as unknown as Pod).spec.nodeName !== node)) {
    throw forbidden(call.type, call.path.name, `node "${node}" requested a token bound to a Pod that is scheduled on a different node`);
  }
  if (node !== undefined && isMirror(object))
    throw forbidden(call.type, call.path.name, `node "${node}" requested a token bound to a mirror Pod`);
  return { kind, object };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function assertRunsAs({ spec }: Pod, name: string): void {
  if (spec.serviceAccountName === name) return;
  throw new ApiError('BadRequest', `cannot bind token for serviceaccount "${name}" to pod running with different serviceaccount name.`);
}
