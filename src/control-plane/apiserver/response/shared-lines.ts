/** Large lines of watches, once for all that watch: alive for as long as somebody is being sent them. Many watches of one large write cost its bytes once. */
import type { Entry } from '../../store/entry.ts';
import type { ResourceType } from '../types/resource-type.ts';

type Line = { readonly entry: Entry; readonly type: ResourceType; readonly event: string; readonly revision: number };

export class SharedLines {
  readonly #lines = new WeakMap<Entry, WeakMap<ResourceType, Map<string, WeakRef<Uint8Array>>>>();
  readonly #encoder = new TextEncoder();

  /** The bytes of a line; `make` is asked when nobody has it. */
  bytesOf({ entry, type, event, revision }: Line, make: () => string): Uint8Array {
    const ofEntry = this.#lines.get(entry) ?? new WeakMap<ResourceType, Map<string, WeakRef<Uint8Array>>>();
    const ofType = ofEntry.get(type) ?? new Map<string, WeakRef<Uint8Array>>();
    const key = `${event} ${revision}`;
    const there = ofType.get(key)?.deref();
    if (there) return there;
    const made = this.#encoder.encode(make());
    this.#lines.set(entry, ofEntry.set(type, ofType.set(key, new WeakRef(made))));
    return made;
  }
}
