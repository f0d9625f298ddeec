/** Which Pods run on which node, kept by node and namespace: what a node may read is asked at each of its requests. Follows the store. */
import type { Pod } from '../../../api/core/pod.ts';
import type { Entry } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';

const PREFIX = 'core/pods/';

export class PodsOfNodes {
  readonly #store: Store;
  /** Store keys of Pods, by node and namespace. */
  readonly #pods = new Map<string, Set<string>>();
  /** And where each is kept. A Pod stays on its node, so that what happens to it later need not be read for this. */
  readonly #places = new Map<string, string>();
  readonly #stop: () => void;

  constructor(store: Store) {
    this.#store = store;
    for (const entry of store.list(PREFIX)) this.#add(entry);
    this.#stop = store.watch(PREFIX, store.revision, ({ key, entry }) => (entry ? this.#add(entry) : this.#remove(key)));
  }

  /** The Pods that a node runs in a namespace. */
  *of(node: string, namespace: string): Generator<Pod> {
    for (const key of this.#pods.get(placeOf(node, namespace)) ?? []) {
      const entry = this.#store.get(key);
      if (entry) yield entry.value as unknown as Pod; // checked by the schema when it was written
    }
  }

  /** Stops following the store. */
  close(): void {
    this.#stop();
  }

  #add(entry: Entry): void {
    const { key } = entry;
    if (this.#places.has(key)) return;
    const { metadata, spec } = entry.value as unknown as Pod; // as above
    if (!spec.nodeName) return;
    const place = placeOf(spec.nodeName, metadata.namespace ?? '');
    this.#places.set(key, place);
    this.#pods.set(place, (this.#pods.get(place) ?? new Set()).add(key));
  }

  #remove(key: string): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    this.#places.delete(key);
    const pods = this.#pods.get(place);
    pods?.delete(key);
    if (pods?.size === 0) this.#pods.delete(place);
  }
}

/** Neither name has a slash in it. */
function placeOf(node: string, namespace: string): string {
  return `${node}/${namespace}`;
}
