/**
 * A toy API server: keeps the rules of the API that controllers lean on (uids, versions, conditional patches, finalizers, unique names,
 * cascades) and applies decisions as reconcile does. Objects never change in place, so a copy of the map is a stale cache.
 */
import type { Pod } from '../api/core/pod.ts';
import { controllerOf, isDeleting, type KubeObject, type ObjectMeta } from '../api/meta.ts';
import { mergePatch } from '../base/json.ts';
import { timestamp } from '../base/timestamp.ts';
import type { Action, Decision } from '../reconcile/decision.ts';

export type Snapshot = ReadonlyMap<string, KubeObject>;

export class Cluster {
  now = Date.parse('2026-01-01T00:00:00Z');
  /** Every printable status, phase and event reason, in order, without repetitions. */
  readonly history: string[] = [];
  /** How many writes decisions have made. */
  writes = 0;
  #objects = new Map<string, KubeObject>();
  #counter = 0;

  get snapshot(): Snapshot {
    return this.#objects;
  }

  find<T extends KubeObject>(kind: T['kind'], name?: string): T | undefined {
    return this.list<T>(kind).find((object) => name === undefined || object.metadata.name === name);
  }

  list<T extends KubeObject>(kind: T['kind']): readonly T[] {
    return [...this.#objects.values()].filter((object): object is T => object.kind === kind);
  }

  /** Writes an object as it is; a new one gets a uid. */
  put(object: KubeObject): void {
    this.#counter += 1;
    const { uid = `${object.kind}-${this.#counter}`, creationTimestamp = timestamp(this.now) } = object.metadata;
    const metadata: ObjectMeta = { ...object.metadata, uid, creationTimestamp, resourceVersion: String(this.#counter) };
    this.#objects = new Map(this.#objects).set(idOf(object), { ...object, metadata });
    this.#recordHistory(object);
  }

  /** A user edits an object: its spec changes, so its generation does. */
  edit(kind: string, patch: object): void {
    const object = this.find(kind);
    if (!object) return;
    const generation = (object.metadata.generation ?? 1) + ('spec' in patch ? 1 : 0);
    const changed = mergePatch(object, patch) as KubeObject;
    this.put({ ...changed, metadata: { ...changed.metadata, generation } });
  }

  /** Deletes as the API does: at once, or by a time stamp when something holds it. An orphaning delete lets dependants go. */
  remove(object: KubeObject | undefined, isOrphaning = false): void {
    const current = object && this.#objects.get(idOf(object));
    if (!current || current.metadata.uid !== object.metadata.uid || isDeleting(current)) return;
    if (isOrphaning) for (const each of this.#dependantsOf(current)) this.#disown(each, current);
    const finalizers = [...(isOrphaning ? ['orphan'] : []), ...(current.metadata.finalizers ?? [])];
    const isHeld = current.kind === 'Pod' ? (current as Pod).spec.nodeName !== undefined : finalizers.length > (isOrphaning ? 1 : 0);
    if (isHeld) this.put({ ...current, metadata: { ...current.metadata, finalizers, deletionTimestamp: timestamp(this.now) } });
    else this.drop(current);
  }

  /** Removes an object whatever holds it. */
  drop(object: KubeObject): void {
    this.#objects = new Map(this.#objects);
    this.#objects.delete(idOf(object));
  }

  /** The garbage collector: what is controlled by nobody that exists goes, and orphans are let go. */
  collect(): void {
    const uids = new Set([...this.#objects.values()].map(({ metadata }) => metadata.uid));
    for (const object of this.#objects.values()) {
      const owner = controllerOf(object);
      if (owner && !uids.has(owner.uid)) this.remove(object);
      if (isDeleting(object) && object.metadata.finalizers?.join() === 'orphan') this.drop(object);
    }
  }

  /** As reconcile does: in order, and no further than the first that finds the world changed. */
  apply({ actions }: Decision): void {
    for (const action of actions) {
      if (!this.#applyOne(action)) return;
      if (action.event) this.history.push(action.event.reason);
    }
  }

  #applyOne(action: Action): boolean {
    if (action.do !== 'record') this.writes += 1;
    if (action.do === 'create') {
      const { generateName, name } = action.object.metadata;
      const object = name
        ? action.object
        : { ...action.object, metadata: { ...action.object.metadata, name: `${generateName}${this.#counter}` } };
      if (this.#objects.has(idOf(object))) return false;
      this.put(object);
    }
    if (action.do === 'delete') {
      const { kind, name, uid } = action.target;
      const object = this.find(kind, name);
      if (object && object.metadata.uid === uid) this.remove(object);
    }
    return action.do !== 'patch' || this.#patch(action);
  }

  #patch({ target, patch, resourceVersion, subresource }: Extract<Action, { do: 'patch' }>): boolean {
    const object = this.find(target.kind, target.name);
    if (!object || object.metadata.uid !== target.uid) return false;
    if (resourceVersion !== undefined && resourceVersion !== object.metadata.resourceVersion) return false;
    const next = mergePatch(object, patch) as KubeObject;
    const isEdit = 'spec' in patch && subresource === undefined;
    const generation = isEdit ? (object.metadata.generation ?? 1) + 1 : object.metadata.generation;
    if (isDeleting(next) && (next.metadata.finalizers ?? []).length === 0) this.drop(next);
    else this.put(generation === undefined ? next : { ...next, metadata: { ...next.metadata, generation } });
    return true;
  }

  #dependantsOf(owner: KubeObject): KubeObject[] {
    return [...this.#objects.values()].filter((object) => controllerOf(object)?.uid === owner.metadata.uid);
  }

  #disown(object: KubeObject, owner: KubeObject): void {
    const ownerReferences = (object.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== owner.metadata.uid);
    this.put({ ...object, metadata: { ...object.metadata, ownerReferences } });
  }

  #recordHistory(object: KubeObject): void {
    const { printableStatus, phase } = (object as { status?: { printableStatus?: string; phase?: string } }).status ?? {};
    const word = object.kind === 'Pod' ? undefined : (printableStatus ?? phase);
    if (!word) return;
    const kind = object.kind === 'VirtualMachine' ? 'vm' : 'vmi';
    const last = this.history.findLast((seen) => seen.startsWith(`${kind} `));
    if (last !== `${kind} ${word}`) this.history.push(`${kind} ${word}`);
  }
}

function idOf({ kind, metadata }: KubeObject): string {
  return `${kind} ${metadata.name}`;
}
