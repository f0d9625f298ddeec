import { useEffect, useState } from 'preact/hooks';
import type { KubeObject } from '../api/meta.ts';
import type { Resource } from '../api/resource.ts';
import { systemClock } from '../base/clock.ts';
import { silentLogger } from '../base/log.ts';
import { startCache } from '../client/cache.ts';
import { useSession } from './hooks.ts';

/** Objects of a kind that only some parts of the page show: followed for as long as they do. Undefined until they are known; of all namespaces where none is named. */
export function useFollowed<T extends KubeObject>(resource: Resource<T>, namespace: string | undefined): readonly T[] | undefined {
  const { client } = useSession();
  const [objects, setObjects] = useState<readonly T[]>();
  useEffect(() => {
    const left = new AbortController();
    const cache = startCache({
      client,
      resource,
      ...(namespace !== undefined && { namespace }),
      clock: systemClock,
      log: silentLogger,
      signal: left.signal,
    });
    const show = () => !left.signal.aborted && setObjects([...cache.list()]);
    cache.synced.then(show, () => {});
    cache.subscribe(show);
    return () => left.abort();
  }, [client, resource, namespace]);
  return objects;
}
