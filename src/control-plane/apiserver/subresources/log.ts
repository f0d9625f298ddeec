/** GET pods/log: what a container printed, from whoever runs it. */
import type { Pod } from '../../../api/core/pod.ts';
import { ApiError } from '../../../base/errors.ts';
import { isTrue } from '../request/path-grammar.ts';
import { wholeNumber } from '../request/query.ts';
import type { Call } from '../server-parts.ts';
import { currentObject } from '../verbs/get.ts';

export async function log(call: Call): Promise<Response> {
  const { query, parts, request } = call;
  const object = currentObject(call);
  if (!parts.hooks.logs) throw new ApiError('ServiceUnavailable', 'no node runtime is connected: logs cannot be read');
  return parts.hooks.logs(object, {
    container: containerOf(object as unknown as Pod, query.get('container') || undefined), // its shape was checked by the schema
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

/** The container meant: the named one, or the only one. */
function containerOf({ metadata, spec }: Pod, named: string | undefined): string | undefined {
  const names = [...spec.containers, ...(spec.initContainers ?? []), ...(spec.ephemeralContainers ?? [])].map(({ name }) => name);
  if (named !== undefined && !names.includes(named)) {
    throw new ApiError('BadRequest', `container ${named} is not valid for pod ${metadata.name}`);
  }
  if (named !== undefined || spec.containers.length === 1) return named ?? spec.containers[0]?.name;
  const choices = `[${spec.containers.map(({ name }) => name).join(' ')}]`;
  throw new ApiError('BadRequest', `a container name must be specified for pod ${metadata.name}, choose one of: ${choices}`);
}
