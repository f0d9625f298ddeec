/** The real store with one fault, for the proof that faults are noticed. */
import { ApiError } from '../../../src/base/errors.ts';
import type { StoreEvent, WriteOperation } from '../../../src/control-plane/store/entry.ts';
import type { Store } from '../../../src/control-plane/store/store.ts';

type Faulty = Pick<Store, 'write' | 'list' | 'listAt' | 'watch' | 'get' | 'revision'>;
type Listener = (event: StoreEvent) => void;

const PREFIX = 'core/configmaps/default/m';
/** One of so many is wrong: most of the time a broken store works. */
const EVERY = 20;

/** By the rule that should notice it. */
export const FAULTS: Readonly<Record<string, { readonly rule: string; readonly of: (store: Store) => Partial<Faulty> }>> = {
  'acknowledges a write and forgets it': { rule: 'lost', of: (store) => ({ write: now(store, (each) => forgotten(store, each)) }) },
  'applies a write twice': { rule: 'doubled', of: (store) => ({ write: now(store, (each) => twice(store, each)) }) },
  'writes a half': { rule: 'whole', of: (store) => ({ write: now(store, (each) => store.write({ ...each, value: half(each.value) })) }) },
  'writes under the name of another object': {
    rule: 'whole',
    of: (store) => ({ write: now(store, (each) => store.write({ key: `${PREFIX}0`, value: renamed(each.value) })) }),
  },
  'lets both of two win': {
    rule: 'lock',
    of: (store) => ({ write: ({ key, value }) => store.write({ key, value }) }),
  },
  'refuses a write that it has done': {
    rule: 'refused',
    of: (store) => ({
      write: now(store, async (each) => {
        await store.write(each);
        throw new ApiError('Forbidden', 'it was done all the same');
      }),
    }),
  },
  'names another revision than it wrote': {
    rule: 'lost',
    of: (store) => ({ write: now(store, async (each) => moved(await store.write(each), 1)) }),
  },
  'tells a watcher of a change twice': { rule: 'watch', of: (store) => ({ watch: watchedBy(store, (event) => [event, event]) }) },
  'leaves a change out for a watcher': { rule: 'watch', of: (store) => ({ watch: watchedBy(store, () => []) }) },
  'tells a watcher of changes in another order': { rule: 'watch', of: (store) => ({ watch: swapped(store) }) },
  'gives one revision to two changes': { rule: 'revision', of: (store) => ({ watch: reused(store) }) },
  'lists an old state as the newest': { rule: 'list', of: stale },
};

/** A store that is real but for its fault. */
export function brokenStore(store: Store, fault: Partial<Faulty>): Store {
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = name in fault ? Reflect.get(fault, name) : Reflect.get(target, name, target);
      return typeof value === 'function' && !(name in fault) ? value.bind(target) : value;
    },
  });
}

/** Every now and then a write of ours goes the other way. */
function now(store: Store, other: Store['write']): Store['write'] {
  let count = 0;
  return (operation) => {
    if (!operation.key.startsWith(PREFIX) || operation.value === undefined) return store.write(operation);
    count += 1;
    return count % EVERY === 0 ? other(operation) : store.write(operation);
  };
}

async function forgotten(store: Store, { key, value }: WriteOperation): Promise<StoreEvent> {
  const revision = store.revision + 1;
  return { key, revision, previous: store.get(key), entry: { key, revision, text: JSON.stringify(value), value: value ?? {} } };
}

async function twice(store: Store, operation: WriteOperation): Promise<StoreEvent> {
  const first = await store.write(operation);
  await store.write({ key: operation.key, value: { ...operation.value } });
  return first;
}

function half(value: WriteOperation['value']): WriteOperation['value'] {
  const { content } = (value?.['data'] ?? {}) as { content?: string }; // as the clients of the history write it
  return { ...value, data: { content: content?.slice(0, content.length / 2) } };
}

function renamed(value: WriteOperation['value']): WriteOperation['value'] {
  return { ...value, metadata: { ...(value?.['metadata'] as object), name: 'm0' } };
}

function moved({ entry, ...event }: StoreEvent, by: number): StoreEvent {
  const revision = event.revision + by;
  return { ...event, revision, entry: entry && { key: entry.key, text: entry.text, value: entry.value, revision } };
}

function watchedBy(store: Store, told: (event: StoreEvent) => readonly StoreEvent[]): Store['watch'] {
  let count = 0;
  return (prefix, from, listener) =>
    store.watch(prefix, from, (event) => {
      if (event.key.startsWith(PREFIX)) count += 1;
      for (const each of event.key.startsWith(PREFIX) && count % EVERY === 0 ? told(event) : [event]) listener(each);
    });
}

function swapped(store: Store): Store['watch'] {
  return (prefix, from, listener) => {
    let count = 0;
    let held: StoreEvent | undefined;
    return store.watch(prefix, from, (event) => {
      count += event.key.startsWith(PREFIX) ? 1 : 0;
      if (event.key.startsWith(PREFIX) && count % EVERY === 0 && !held) held = event;
      else tell(listener, [event, held]);
      if (held !== event) held = undefined;
    });
  };
}

function tell(listener: Listener, events: readonly (StoreEvent | undefined)[]): void {
  for (const event of events) if (event) listener(event);
}

/** One of two watchers sees what the other sees, at the revision before. */
function reused(store: Store): Store['watch'] {
  let watchers = 0;
  return (prefix, from, listener) => {
    watchers += 1;
    const isWrong = watchers % 2 === 0;
    return store.watch(prefix, from, (event) => listener(isWrong && event.key.startsWith(PREFIX) ? moved(event, -1) : event));
  };
}

function stale(store: Store): Partial<Faulty> {
  let count = 0;
  let old: ReturnType<Store['list']> = [];
  return {
    list(prefix) {
      if (!PREFIX.startsWith(prefix) || prefix === '') return store.list(prefix);
      count += 1;
      if (count % EVERY === 1) old = [...store.list(prefix)];
      return count % EVERY === 0 ? old : store.list(prefix);
    },
  };
}
