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
  /** The version that came last of each object, for as long as somebody holds it: by how it is seen, then by uid. */
  readonly #newest = new Map<string, Map<string, WeakRef<KubeObject>>>();
  #size = 0;
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
    const { uid, resourceVersion } = object.metadata ?? {};
    if (!uid || !resourceVersion) return object;
    const ofKind = this.#ofKind(object);
    const known = ofKind.get(uid);
    const held = known?.deref();
    // Compared, because a server may show the same version with other defaults after a change of its schema.
    if (held?.metadata.resourceVersion === resourceVersion && deepEqual(held, object)) return held as T; // equal to it in everything
    ofKind.set(uid, new WeakRef(object));
    if (!known) this.#size += 1;
    if (this.#size >= this.#sweepAt) this.#sweep();
    return object;
  }

  /** How many objects are known, those included that nobody holds any more. */
  get size(): number {
    return this.#size;
  }

  #ofKind({ apiVersion, kind }: KubeObject): Map<string, WeakRef<KubeObject>> {
    const name = `${apiVersion} ${kind}`;
    const known = this.#newest.get(name) ?? new Map<string, WeakRef<KubeObject>>();
    this.#newest.set(name, known);
    return known;
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
    this.#size = 0;
    for (const ofKind of this.#newest.values()) {
      for (const [uid, held] of ofKind) if (held.deref() === undefined) ofKind.delete(uid);
      this.#size += ofKind.size;
    }
    this.#sweepAt = Math.max(FIRST_SWEEP, this.#size * 2);
  }
}
