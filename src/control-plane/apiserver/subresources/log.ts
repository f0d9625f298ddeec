/** GET pods/log: what a container printed, from whoever runs it. */
import { containerNameOf } from '../../../api/core/container-name.ts';
import type { Pod } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { isTrue } from '../request/path-grammar.ts';
import { wholeNumber } from '../request/query.ts';
import type { Call } from '../server-parts.ts';
import { currentObject } from '../verbs/get.ts';

export async function log(call: Call): Promise<Response> {
  const { query, parts, request } = call;
  const object = currentObject(call);
  const pod = object as unknown as Pod; // its shape was checked by the schema
  const container = containerNameOf(pod, query.get('container') || undefined);
  if (!pod.spec.nodeName) return new Response(undefined, { status: 204 }); // nothing has printed anything yet
  if (!parts.hooks.logs) throw new ApiError('ServiceUnavailable', 'no node runtime is connected: logs cannot be read');
  return parts.hooks.logs(object, {
    container,
    follow: isTrue(query.get('follow')),
    previous: isTrue(query.get('previous')),
    timestamps: isTrue(query.get('timestamps')),
    tailLines: wholeNumber(query, 'tailLines'),
    sinceSeconds: wholeNumber(query, 'sinceSeconds'),
    sinceTime: query.get('sinceTime') || undefined,
    limitBytes: wholeNumber(query, 'limitBytes'),
    signal: AbortSignal.any([request.signal, parts.closed]),
  });
}
