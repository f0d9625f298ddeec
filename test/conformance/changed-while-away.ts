/** Changes that no watch could see: made in the store while the server was away, and pushed out of what it remembers. */
import type { JsonObject } from '../../src/base/json.ts';
import type { Store } from '../../src/control-plane/store/store.ts';
import type { Cluster } from './cluster.ts';

/** ConfigMap `from` of the namespace becomes ConfigMap `to`, and its old versions are forgotten. */
export async function restartRenaming(cluster: Cluster, namespace: string, [from, to]: readonly [string, string]): Promise<void> {
  const keyOf = (name: string) => `core/configmaps/${namespace}/${name}`;
  await cluster.restart(async (store: Store) => {
    const value = store.get(keyOf(from))!.value as JsonObject & { metadata: JsonObject };
    await store.write({ key: keyOf(from), value: undefined });
    await store.write({ key: keyOf(to), value: { ...value, metadata: { ...value.metadata, name: to, uid: crypto.randomUUID() } } });
    await cluster.makeHistory(store);
  });
}
