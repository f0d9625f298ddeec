/**
 * How much of each quota is used. Follows the store, object by object, so that a question costs the same however much is there; namespaces
 * without a quota cost nothing.
 *
 * A write that needs room takes it before it is sent to the store, in the same turn in which it is found to be there, and so no two
 * writes are given the same room. It is given back when the write is over: by then the object itself is counted. As every write names the
 * revision it expects, whatever happens to an object makes the other writes that wait for it fail, and what they took is free at once.
 */
import type { Pod } from '../../../api/core/pod.ts';
import type { ResourceQuota } from '../../../api/core/resource-quota.ts';
import { deepEqual } from '../../../base/json.ts';
import type { Entry, StoreEvent } from '../../store/entry.ts';
import type { Store } from '../../store/store.ts';
import { forbidden } from '../response/api-errors.ts';
import { toStored } from '../response/render.ts';
import { type AnyObject, type ResourceType, storeKey } from '../types/resource-type.ts';
import { amountOf, type Charge, chargeOf, formatAmount, unspecified } from './charge.ts';
import { isScoped, matchesPod } from './scopes.ts';

const PREFIX = 'core/resourcequotas/';

/** A write as admission sees it, as far as it matters here. */
type Write = {
  readonly type: ResourceType;
  readonly namespace: string | undefined;
  readonly name: string;
  readonly subresource: string | undefined;
  readonly object: AnyObject | undefined;
  readonly oldObject: AnyObject | undefined;
  readonly isDryRun: boolean;
};

/** One quota with what is counted in it. */
type Book = {
  readonly quota: ResourceQuota;
  readonly hard: ReadonlyMap<string, number>;
  /** By store key: what each object counts. */
  readonly charges: Map<string, Charge>;
  /** What is in the store. */
  readonly used: Map<string, number>;
  /** What writes under way will add. */
  readonly reserved: Map<string, number>;
};

export class QuotaLedger {
  readonly #store: Store;
  /** By namespace, then by name. */
  readonly #books = new Map<string, Map<string, Book>>();
  /** Writes under way: by the key of their object, how to give back what they took. */
  readonly #waiting = new Map<string, Set<() => void>>();
  readonly #stop: () => void;
  /** Told the key of a quota of which more or less is used than before. */
  onChange: (key: string) => void = () => {};

  constructor(store: Store) {
    this.#store = store;
    for (const entry of store.list(PREFIX)) this.#open(entry);
    this.#stop = store.watch('', store.revision, (event) => this.#follow(event));
  }

  /** Keys of all quotas. */
  keys(): string[] {
    return [...this.#books].flatMap(([namespace, books]) => [...books.keys()].map((name) => `${PREFIX}${namespace}/${name}`));
  }

  /** What the status of a quota should say; undefined when it is gone. */
  statusOf(key: string): Required<ResourceQuota>['status'] | undefined {
    const [, , namespace = '', name = ''] = key.split('/');
    const book = this.#books.get(namespace)?.get(name);
    if (!book) return undefined;
    const used = [...book.hard.keys()].map((resource) => [resource, formatAmount(resource, book.used.get(resource) ?? 0)]);
    return { hard: book.quota.spec?.hard ?? {}, used: Object.fromEntries(used) };
  }

  /** Takes the room that a new or changed object needs; Forbidden when a quota has too little. Whoever asked gives it back when the write is over. */
  reserve(request: Write): () => void {
    const { type, namespace = '', subresource, object } = request;
    const books = this.#books.get(namespace);
    if (!books || !object || subresource !== undefined) return nothing;
    const key = storeKey(type, namespace, request.name);
    const value = toStored(type, object);
    const taken: [Book, [string, number][]][] = [];
    for (const book of books.values()) {
      const missing = isPodKey(key) && !request.oldObject ? this.#unspecified(book, value as unknown as Pod) : undefined; // checked by the schema
      if (missing !== undefined) throw forbidden(type, request.name, `failed quota: ${book.quota.metadata.name}: must specify ${missing}`);
      const more = moreThan(
        book.charges.get(key),
        chargeIn(book, key, () => value),
      );
      const why = exceeded(book, more);
      if (why !== undefined) throw forbidden(type, request.name, `exceeded quota: ${book.quota.metadata.name}, ${why}`);
      if (more.length > 0) taken.push([book, more]);
    }
    return taken.length === 0 || request.isDryRun ? nothing : this.#take(key, taken);
  }

  /** Stops following the store. */
  close(): void {
    this.#stop();
  }

  #unspecified(book: Book, pod: Pod): string | undefined {
    return matchesPod(book.quota, pod) ? unspecified(pod, [...book.hard.keys()]) : undefined;
  }

  #take(key: string, taken: readonly [Book, [string, number][]][]): () => void {
    for (const [book, more] of taken) for (const [resource, amount] of more) add(book.reserved, resource, amount);
    const waiting = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, waiting);
    const giveBack = () => {
      if (!waiting.delete(giveBack)) return;
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
      for (const [book, more] of taken) for (const [resource, amount] of more) add(book.reserved, resource, -amount);
    };
    waiting.add(giveBack);
    return giveBack;
  }

  #follow({ key, entry }: StoreEvent): void {
    for (const giveBack of [...(this.#waiting.get(key) ?? [])]) giveBack();
    const [, , namespace = '', name = ''] = key.split('/');
    if (key.startsWith(PREFIX)) {
      if (entry) this.#open(entry);
      else this.#forget(namespace, name);
    }
    for (const book of this.#books.get(namespace)?.values() ?? []) {
      if (count(book, key, entry)) this.onChange(`${PREFIX}${namespace}/${book.quota.metadata.name}`);
    }
  }

  /** A quota that is new, or wants something else than before, counts the namespace afresh. */
  #open(entry: Entry): void {
    const quota = entry.value as unknown as ResourceQuota; // checked by the schema when it was written
    const { namespace = '', name } = quota.metadata;
    const books = this.#books.get(namespace) ?? new Map<string, Book>();
    const known = books.get(name);
    if (known && known.quota.metadata.uid === quota.metadata.uid && deepEqual(known.quota.spec, quota.spec)) return;
    const hard = new Map(Object.entries(quota.spec?.hard ?? {}).map(([resource, text]) => [resource, amountOf(resource, text)]));
    // Of a changed quota, what writes under way have taken goes on to be taken: they give it back to this same map.
    const book: Book = { quota, hard, charges: new Map(), used: new Map(), reserved: known?.reserved ?? new Map() };
    for (const each of this.#store.list('')) if (each.key.split('/', 3)[2] === namespace) count(book, each.key, each);
    this.#books.set(namespace, books.set(name, book));
    this.onChange(entry.key);
  }

  #forget(namespace: string, name: string): void {
    const books = this.#books.get(namespace);
    books?.delete(name);
    if (books?.size === 0) this.#books.delete(namespace);
  }
}

function nothing(): void {}

function isPodKey(key: string): boolean {
  return key.startsWith('core/pods/');
}

/** Counts the object as it is now, undefined when it is gone; whether that made a difference. */
function count(book: Book, key: string, entry: Entry | undefined): boolean {
  const before = book.charges.get(key) ?? {};
  const now = entry ? chargeIn(book, key, () => entry.value) : {};
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  let isChanged = false;
  for (const resource of names) {
    const difference = (now[resource] ?? 0) - (before[resource] ?? 0);
    if (difference === 0) continue;
    isChanged = true;
    add(book.used, resource, difference);
  }
  if (Object.keys(now).length > 0) book.charges.set(key, now);
  else book.charges.delete(key);
  return isChanged;
}

/** What this object counts in this quota. */
function chargeIn(book: Book, key: string, value: () => unknown): Charge {
  const isOther = isPodKey(key) ? !matchesPod(book.quota, value() as Pod) : isScoped(book.quota); // checked by the schema
  if (isOther) return {};
  const [group = '', plural = ''] = key.split('/', 2);
  return Object.fromEntries(Object.entries(chargeOf(group, plural, value)).filter(([resource]) => book.hard.has(resource)));
}

function moreThan(before: Charge = {}, now: Charge): [string, number][] {
  const differences = Object.entries(now).map(([resource, amount]): [string, number] => [resource, amount - (before[resource] ?? 0)]);
  return differences.filter(([, amount]) => amount > 0);
}

/** In the words of Kubernetes, naming only what there is too little of. */
function exceeded({ hard, used, reserved }: Book, more: readonly [string, number][]): string | undefined {
  const taken = (resource: string) => (used.get(resource) ?? 0) + (reserved.get(resource) ?? 0);
  const over = more
    .filter(([resource, amount]) => taken(resource) + amount > (hard.get(resource) ?? 0))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  if (over.length === 0) return undefined;
  const shown = (amount: (resource: string, wanted: number) => number) =>
    over.map(([resource, wanted]) => `${resource}=${formatAmount(resource, amount(resource, wanted))}`).join(',');
  return `requested: ${shown((_, wanted) => wanted)}, used: ${shown(taken)}, limited: ${shown((resource) => hard.get(resource) ?? 0)}`;
}

function add(totals: Map<string, number>, resource: string, amount: number): void {
  totals.set(resource, (totals.get(resource) ?? 0) + amount);
}
