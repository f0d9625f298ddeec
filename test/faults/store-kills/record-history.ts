/** Clients that write, list and watch all at once, through whatever happens to the server, and write down what they were told. */

import { crc32 } from 'node:zlib';
import { systemClock } from '../../../src/base/clock.ts';
import type { KubeFetch } from '../../../src/client/client.ts';
import { pick, type Random } from '../../../src/control-plane/apiserver/fuzzed-objects.testing.ts';
import type { Item, List, WatchEvent, Watcher, Write } from './history.ts';

export type RecorderOptions = {
  /** Throws when the connection breaks. */
  readonly fetch: KubeFetch;
  /** Resolves when a server answers again. */
  readonly whenServing: () => Promise<unknown>;
  readonly random: Random;
  readonly writers?: number;
  readonly watchers?: number;
};

const URL = 'https://kubernetes.default.svc/api/v1/namespaces/default/configmaps';
/** Few, so that they meet. */
const NAMES = Array.from({ length: 12 }, (_, n) => `m${n}`);
/** Some are longer than a page of the database, or than one read of a socket. */
const LENGTHS = [10, 300, 5_000, 70_000];

type ConfigMap = {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: { readonly content?: string };
};

/** A history that grows until `finish`, which resolves when every watcher has seen the end. */
export class Recorder {
  readonly writes: Write[] = [];
  #acknowledged = 0;
  readonly lists: List[] = [];
  readonly watchers: Watcher[] = [];
  readonly #options: RecorderOptions;
  readonly #stop = new AbortController();
  readonly #newest = new Map<string, number>();
  readonly #loops: Promise<void>[] = [];
  #watching: Promise<void>[] = [];
  #isWriting = true;
  #wakeFinish = () => {};
  #place = 0;

  constructor(options: RecorderOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { writers = 6, watchers = 2 } = this.#options;
    const { revision } = await this.#list();
    for (let n = 0; n < watchers; n += 1) {
      const watcher: Watcher = { from: revision, events: [], expired: 0 };
      this.watchers.push(watcher);
      this.#watching.push(this.#watch(watcher));
    }
    for (let n = 0; n < writers; n += 1) this.#loops.push(this.#writeUntilTheEnd());
    this.#loops.push(this.#listUntilTheEnd());
  }

  /** Resolves when so many more writes were acknowledged. */
  async untilAcknowledged(more: number): Promise<void> {
    const wanted = this.#acknowledged + more;
    while (this.#acknowledged < wanted) await systemClock.sleep(5);
  }

  /** Resolves when there are so many writes. */
  async until(writes: number): Promise<void> {
    while (this.writes.length < writes) await turn();
  }

  /** Stops writing and lets the watchers catch up, but not for ever: what they have not seen by then is lost. */
  async finish(patienceMs = 20_000): Promise<void> {
    this.#isWriting = false;
    await Promise.all(this.#loops);
    const { revision: end, items } = await this.#list();
    const newest = [...items, ...this.writes].reduce((highest, { revision = 0 }) => Math.max(highest, revision), 0);
    const patience = AbortSignal.timeout(patienceMs);
    patience.addEventListener('abort', () => this.#wakeFinish());
    const isBehind = ({ events }: Watcher) => (events.at(-1)?.revision ?? 0) < Math.min(newest, end);
    while (this.watchers.some(isBehind) && !patience.aborted) {
      await new Promise<void>((resolve) => {
        this.#wakeFinish = resolve;
      });
    }
    this.#stop.abort();
    await Promise.all(this.#watching);
  }

  /** At once, whatever is missing. */
  abandon(): void {
    this.#isWriting = false;
    this.#stop.abort();
  }

  async #writeUntilTheEnd(): Promise<void> {
    while (this.#isWriting) {
      await turn();
      const isAnswered = await this.#writeOnce();
      if (!isAnswered) await this.#options.whenServing();
    }
  }

  /** False when nobody answered. */
  async #writeOnce(): Promise<boolean> {
    const { random } = this.#options;
    const name = pick(random, NAMES);
    const expected = this.#newest.get(name) ?? 0;
    const verb = expected === 0 ? 'create' : random() < 0.2 ? 'delete' : 'update';
    const id = this.writes.length;
    const content = verb === 'delete' ? undefined : `${id} ${'abcdefgh'.charAt(id % 8).repeat(pick(random, LENGTHS))} ${id}`;
    const kept = content === undefined ? {} : { content: fingerprint(content) };
    const write: Write = { verb, key: name, expected, ...kept, start: this.#tick(), end: 0, outcome: 'unknown' };
    this.writes.push(write);
    try {
      await this.#send(write, content);
      return true;
    } catch {
      write.end = this.#tick();
      return false; // it may be there, or not
    }
  }

  async #send(write: Write, content: string | undefined): Promise<void> {
    const { verb, key: name, expected } = write;
    const resourceVersion = String(expected);
    const metadata = { name, ...(verb === 'update' && { resourceVersion }) };
    const body =
      verb === 'delete' ? { preconditions: { resourceVersion } } : { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { content } };
    const method = verb === 'create' ? 'POST' : verb === 'update' ? 'PUT' : 'DELETE';
    const response = await this.#ask(method, verb === 'create' ? '' : `/${name}`, body);
    const answer = (await response.json()) as Partial<ConfigMap>; // what the API answers; anything else fails below
    if (response.status >= 500) throw new Error(`${response.status}`);
    write.end = this.#tick();
    write.outcome = response.ok ? 'acknowledged' : 'refused';
    if (response.ok) this.#acknowledged += 1;
    const revision = Number(answer.metadata?.resourceVersion ?? 0);
    if (response.ok && verb !== 'delete') write.revision = revision;
    if (response.ok) this.#know(name, verb === 'delete' ? 0 : revision, expected);
    else await this.#look(name);
  }

  /** Somebody else may have learned of something newer meanwhile. */
  #know(name: string, revision: number, expected: number): void {
    if ((this.#newest.get(name) ?? 0) === expected) this.#newest.set(name, revision);
  }

  /** What is there now, for whoever was refused. */
  async #look(name: string): Promise<void> {
    const response = await this.#ask('GET', `/${name}`);
    const object = (await response.json()) as Partial<ConfigMap>;
    if (response.status < 500) this.#newest.set(name, response.ok ? Number(object.metadata?.resourceVersion) : 0);
  }

  async #listUntilTheEnd(): Promise<void> {
    while (this.#isWriting) {
      await turn();
      try {
        await this.#list();
      } catch {
        await this.#options.whenServing();
      }
    }
  }

  async #list(): Promise<List> {
    const start = this.#tick();
    const response = await this.#ask('GET', '');
    const { metadata, items } = (await response.json()) as { metadata: { resourceVersion: string }; items: ConfigMap[] };
    const revision = Number(metadata.resourceVersion);
    const list: List = { start, end: this.#tick(), revision, items: items.filter(isOurs).map(itemOf) };
    this.lists.push(list);
    return list;
  }

  async #watch(watcher: Watcher): Promise<void> {
    while (!this.#stop.signal.aborted) {
      try {
        const position = watcher.events.at(-1)?.revision ?? watcher.from;
        const response = await this.#ask('GET', `?watch=1&resourceVersion=${position}`);
        if (response.status === 410) watcher.expired += 1;
        await this.#read(watcher, response);
      } catch {
        // the connection broke; what was read counts
      }
      if (!this.#stop.signal.aborted) await this.#options.whenServing();
    }
  }

  async #read(watcher: Watcher, response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      const lines = text.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) {
        const { type, object } = JSON.parse(line) as { type: string; object: ConfigMap };
        if (type === 'ERROR') watcher.expired += 1;
        else if (isOurs(object)) watcher.events.push({ type, ...itemOf(object) } satisfies WatchEvent);
      }
      this.#wakeFinish();
    }
  }

  #ask(method: string, path: string, body?: object): Promise<Response> {
    const headers = { 'content-type': 'application/json' };
    const init = { method, headers, signal: this.#stop.signal, ...(body && { body: JSON.stringify(body) }) };
    return this.#options.fetch(new Request(`${URL}${path}`, init));
  }

  #tick(): number {
    this.#place += 1;
    return this.#place;
  }
}

/** A server in the same process may answer without one, and nobody else would ever be asked. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Not what a cluster has of its own. */
function isOurs({ metadata }: ConfigMap): boolean {
  return NAMES.includes(metadata.name);
}

function itemOf({ metadata, data }: ConfigMap): Item {
  return { key: metadata.name, revision: Number(metadata.resourceVersion), content: fingerprint(data?.content ?? '') };
}

/** A history of hundreds of thousands of writes has to be remembered; that a part of one is missing is seen by this, too. */
function fingerprint(content: string): string {
  return `${content.slice(0, 12)} ${content.length} ${crc32(content)}`;
}
