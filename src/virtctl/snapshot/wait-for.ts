/** Waits for something that virt-controller works on, and says what it waits for. */
import type { KubeObject } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import { ApiError } from '../../base/errors.ts';
import type { ClusterDeps } from '../deps.ts';

type Waiting<T> = {
  readonly resource: Resource<T & KubeObject>;
  readonly name: string;
  readonly isOver: (object: T) => boolean;
  /** What keeps it, in words; said once each. */
  readonly whyNot: (object: T) => string | undefined;
  readonly signal?: AbortSignal;
};

const LOOK_MS = 250;

/** The object when it is over, well or not. */
export async function waitFor<T extends KubeObject>(deps: ClusterDeps, { resource, name, isOver, whyNot, signal }: Waiting<T>): Promise<T> {
  const { client, namespace, clock, stderr } = deps;
  for (let said: string | undefined; ; ) {
    const object = await client.get(resource as Resource<T>, { namespace, name });
    if (!object) throw new ApiError('NotFound', `${resource.kind} ${name} was deleted`);
    if (isOver(object)) return object;
    const why = whyNot(object);
    if (why !== undefined && why !== said) stderr.write(`waiting: ${why}\n`);
    said = why ?? said;
    await clock.sleep(LOOK_MS, signal);
    signal?.throwIfAborted();
  }
}
