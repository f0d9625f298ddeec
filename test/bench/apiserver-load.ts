/** The load of the API server benchmark, on whatever server answers. */
import { Agent, request as httpsRequest } from 'node:https';
import type { Cluster } from '../../src/client/node/kubeconfig.ts';

export type Figures = Readonly<
  Record<
    | 'createsPerSecond'
    | 'getsPerSecond'
    | 'updatesPerSecond'
    | 'listMs'
    | 'watch1P50Ms'
    | 'watch1P99Ms'
    | 'watch100P50Ms'
    | 'watch100P99Ms'
    | 'getSmallMs'
    | 'getLargeMs'
    | 'putSmallMs'
    | 'putLargeMs'
    | 'pageSmallMs'
    | 'pageLargeMs'
    | 'readyMs'
    | 'emptyMiB'
    | 'fullMiB',
    number
  >
>;
type Options = { readonly cluster: Cluster; readonly readyMs: number; readonly residentMiB: () => number };
type Call = (method: string, path: string, body?: object) => Promise<string>;

const OBJECTS = 10_000;
const CLIENTS = 32;
const UPDATERS = 50;
const UPDATES_EACH = 40;
const WATCH_CHANGES = 100;
const MAPS = '/api/v1/namespaces/default/configmaps';
const TEXT = 'x'.repeat(1400);

export async function measure({ cluster, readyMs, residentMiB }: Options): Promise<Figures> {
  const call = caller(cluster);
  const emptyMiB = residentMiB();
  const small = await inParallel(100, CLIENTS, (i) => call('POST', MAPS, map(i)));
  const smallCosts = await costs(call, 100);
  const large = await inParallel(OBJECTS - 100, CLIENTS, (i) => call('POST', MAPS, map(i + 100)));
  const largeCosts = await costs(call, OBJECTS);
  const gets = await inParallel(5000, CLIENTS, (i) => call('GET', `${MAPS}/m${(i * 7) % OBJECTS}`));
  const listMs = median(await series(5, () => timed(() => call('GET', MAPS))));
  const fullMiB = residentMiB();
  const updates = await inParallel(UPDATERS * UPDATES_EACH, UPDATERS, (i) =>
    call('PUT', `${MAPS}/m${i % UPDATERS}`, { ...map(i % UPDATERS), data: { text: TEXT, i: String(i) } }),
  );
  const one = await watchLatencies(cluster, call, 1);
  const hundred = await watchLatencies(cluster, call, 100);
  return {
    createsPerSecond: Math.round(OBJECTS / (small + large)),
    getsPerSecond: Math.round(5000 / gets),
    updatesPerSecond: Math.round((UPDATERS * UPDATES_EACH) / updates),
    listMs: Math.round(listMs),
    watch1P50Ms: round(quantile(one, 0.5)),
    watch1P99Ms: round(quantile(one, 0.99)),
    watch100P50Ms: round(quantile(hundred, 0.5)),
    watch100P99Ms: round(quantile(hundred, 0.99)),
    getSmallMs: smallCosts.get,
    getLargeMs: largeCosts.get,
    putSmallMs: smallCosts.put,
    putLargeMs: largeCosts.put,
    pageSmallMs: smallCosts.page,
    pageLargeMs: largeCosts.page,
    readyMs: Math.round(readyMs),
    emptyMiB,
    fullMiB,
  };
}

/** One request after another, so that nothing but its own cost is in a figure; the median, because a machine has other things to do. */
async function costs(call: Call, objects: number): Promise<{ get: number; put: number; page: number }> {
  const cost = async (work: (name: string, i: number) => Promise<unknown>) =>
    round(median(await series(300, (i) => timed(() => work(`m${(i * 31) % objects}`, i)))));
  const changed = (name: string, i: number) => ({
    ...map(0),
    metadata: { name, namespace: 'default' },
    data: { text: TEXT, i: String(i) },
  });
  return {
    get: await cost((name) => call('GET', `${MAPS}/${name}`)),
    put: await cost((name, i) => call('PUT', `${MAPS}/${name}`, changed(name, i))),
    page: await cost(() => call('GET', `${MAPS}?limit=50`)),
  };
}

function map(i: number): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: `m${i}`, namespace: 'default' }, data: { text: TEXT } };
}

/** HTTP/1.1 with connections that are kept, the same for both servers. */
function caller(cluster: Cluster): Call {
  const agent = new Agent({ keepAlive: true, maxSockets: UPDATERS });
  const once: Call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = body ? { 'content-type': 'application/json' } : {};
      const outgoing = httpsRequest(new URL(path, cluster.server), { method, headers, agent, ...identity(cluster) }, (incoming) => {
        let text = '';
        incoming.setEncoding('utf8');
        incoming.on('data', (chunk) => {
          text += chunk;
        });
        incoming.on('end', () => {
          if ((incoming.statusCode ?? 500) < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${incoming.statusCode} ${text}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body && JSON.stringify(body));
    });
  // A server may close a connection that rests in the moment in which we use it: every client tries again then.
  return (method, path, body) =>
    once(method, path, body).catch((error) => (error?.code === 'ECONNRESET' ? once(method, path, body) : Promise.reject(error)));
}

function identity({ ca, cert, key }: Cluster) {
  return { ca, cert, key };
}

/** Seconds that `count` calls take from `clients` who each make one after another. */
async function inParallel(count: number, clients: number, work: (i: number) => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  let next = 0;
  const client = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: clients }, client));
  return (performance.now() - startedAt) / 1000;
}

async function series<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (let i = 0; i < count; i += 1) results.push(await work(i));
  return results;
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

/** From sending a change to its arrival, at every watcher. */
async function watchLatencies(cluster: Cluster, call: Call, watchers: number): Promise<number[]> {
  const latencies: number[] = [];
  let sentAt = 0;
  let arrived = 0;
  let everybodyHas: () => void = () => {};
  const { metadata } = JSON.parse(await call('GET', `${MAPS}?limit=1`));
  const agent = new Agent({ keepAlive: false, maxSockets: watchers });
  const path = `${MAPS}?watch=1&resourceVersion=${metadata.resourceVersion}`;
  const streams = await Promise.all(
    Array.from(
      { length: watchers },
      () =>
        new Promise<{ destroy: () => void }>((resolve, reject) => {
          const outgoing = httpsRequest(new URL(path, cluster.server), { agent, ...identity(cluster) }, (incoming) => {
            incoming.on('data', (chunk: Buffer) => {
              if (!chunk.includes('\n')) return;
              latencies.push(performance.now() - sentAt);
              arrived += 1;
              if (arrived === watchers) everybodyHas();
            });
            incoming.on('error', () => {});
            resolve(outgoing);
          });
          outgoing.on('error', reject);
          outgoing.end();
        }),
    ),
  );
  for (let i = 0; i < WATCH_CHANGES; i += 1) {
    arrived = 0;
    const all = new Promise<void>((resolve) => {
      everybodyHas = resolve;
    });
    sentAt = performance.now();
    await Promise.all([call('PUT', `${MAPS}/m0`, { ...map(0), data: { watchers: String(watchers), i: String(i) } }), all]);
  }
  for (const stream of streams) stream.destroy();
  return latencies;
}

function quantile(values: readonly number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN;
}

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
