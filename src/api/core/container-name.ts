/** Which container of a Pod is meant by whoever names one, or none. */
import { ApiError } from '../../base/errors.ts';
import type { Pod } from './pod.ts';

/** The named container, or the only one; BadRequest with the choices, in the words of Kubernetes, when it is neither. */
export function containerNameOf({ metadata, spec }: Pod, named: string | undefined): string {
  const names = [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])].map(({ name }) => name);
  const [only, ...others] = spec.containers;
  if (named === undefined && only && others.length === 0) return only.name;
  if (named === undefined) {
    throw new ApiError('BadRequest', `a container name must be specified for pod ${metadata.name}, choose one of: [${names.join(' ')}]`);
  }
  if (!names.includes(named)) throw new ApiError('BadRequest', `container ${named} is not valid for pod ${metadata.name}`);
  return named;
}
