/** POST pods/eviction: a polite deletion, as `kubectl drain` asks for it. */
import { isObject } from '../../../base/json.ts';
import { decodeBody } from '../request/decode-body.ts';
import { deleteOptions } from '../request/query.ts';
import { respondJson } from '../response/respond.ts';
import type { Call } from '../server-parts.ts';
import { deleteObject } from '../verbs/delete.ts';

export async function evict(call: Call): Promise<Response> {
  const body = (await decodeBody(call.request)) ?? {};
  const options = isObject(body['deleteOptions']) ? body['deleteOptions'] : {};
  await deleteObject(call, call.path.name ?? '', deleteOptions(call.query, options));
  return respondJson({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 }, { status: 201 });
}
