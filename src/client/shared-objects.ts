/**
 * Objects that all clients of one process read together: a change that six caches are told is parsed once and kept once. Nobody changes what
 * was read, so nobody notices; who may read what was decided before the text came here.
 */
import type { KubeObject } from '../api/meta.ts';
import { deepEqual } from '../base/json.ts';

/** Watches are told of a change at about the same time: only texts of the last moment come again. */
const LATELY_CHARACTERS = 2 * 1024 * 1024;
const FIRST_SWEEP = 1_000;

export class SharedObjects {
  /** By their texts, oldest first. */
  readonly #lately = new Map<string, KubeObject>();
  #characters = 0;
  /** One for each version of an object that somebody still holds. */
  readonly #versions = new Map<string, WeakRef<KubeObject>>();
  #sweepAt = FIRST_SWEEP;

  /** The object that a text stands for. */
  parse(text: string): KubeObject {
    const known = this.#lately.get(text);
    if (known) return known;
    const object = this.share(JSON.parse(text) as KubeObject); // what a server sends as an object
    this.#remember(text, object);
    return object;
  }

  /** An equal object that somebody holds already, or this one. */
  share<T extends KubeObject>(object: T): T {
    const key = versionOf(object);
    if (key === undefined) return object;
    const known = this.#versions.get(key)?.deref();
    // Compared, because a server may show the same version with other defaults after a change of its schema.
    if (known && deepEqual(known, object)) return known as T; // equal to it in everything
    this.#versions.set(key, new WeakRef(object));
    if (this.#versions.size >= this.#sweepAt) this.#sweep();
    return object;
  }

  /** How many versions are known, those included that nobody holds any more. */
  get size(): number {
    return this.#versions.size;
  }

  #remember(text: string, object: KubeObject): void {
    this.#lately.set(text, object);
    this.#characters += text.length;
    for (const oldest of this.#lately.keys()) {
      if (this.#characters <= LATELY_CHARACTERS) return;
      this.#lately.delete(oldest);
      this.#characters -= oldest.length;
    }
  }

  /** Each time as many have come as were left the time before: that costs the same for each, however many there are. */
  #sweep(): void {
    for (const [key, held] of this.#versions) if (held.deref() === undefined) this.#versions.delete(key);
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#versions.size * 2);
  }
}

/** The same for two objects that are the same version of the same object, seen as the same kind. */
function versionOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const { uid, resourceVersion } = metadata ?? {};
  return uid && resourceVersion ? `${apiVersion} ${kind} ${uid} ${resourceVersion}` : undefined;
}
