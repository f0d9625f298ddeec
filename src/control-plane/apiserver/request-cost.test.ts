/** Small requests that ask for large work: each is answered within a bound of CPU time, because everybody else waits meanwhile. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestServer } from './test-server.testing.ts';

/** At worst; the usual request takes a thousandth of it. CPU time, so that a busy machine does not count. */
const MAX_CPU_MS = 1_000;
const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/d';
const STRATEGIC = 'application/strategic-merge-patch+json';

type Costly = {
  readonly title: string;
  readonly path: string;
  readonly method?: 'POST' | 'PATCH';
  readonly type?: string;
  readonly body: () => unknown;
  readonly status: number;
};

const COSTLY: readonly Costly[] = [
  {
    title: 'a strategic merge patch of 20,000 new items',
    path: `${DEPLOYMENT}?dryRun=All`,
    method: 'PATCH',
    type: STRATEGIC,
    body: () => templateWith({ env: variables(20_000, 'e') }),
    status: 200,
  },
  {
    title: 'a strategic merge patch of 15,000 items that names their order',
    path: `${DEPLOYMENT}?dryRun=All`,
    method: 'PATCH',
    type: STRATEGIC,
    body: () => templateWith({ env: variables(15_000, 'f'), '$setElementOrder/env': variables(15_000, 'f').map(({ name }) => ({ name })) }),
    status: 200,
  },
  {
    title: 'a JSON patch that fills a list and inserts at its head',
    path: `${CONFIG_MAPS}/c?dryRun=All`,
    method: 'PATCH',
    type: 'application/json-patch+json',
    body: () => [
      { op: 'add', path: '/x', value: repeat(60_000, () => 1) },
      ...repeat(9_999, () => ({ op: 'add', path: '/x/0', value: 1 })),
    ],
    status: 413,
  },
  { title: 'an array of 900,000 numbers', path: CONFIG_MAPS, body: () => ({ ...configMap(), x: repeat(900_000, () => 1) }), status: 413 },
  { title: '200,000 unknown fields', path: CONFIG_MAPS, body: () => ({ ...configMap(), ...fields(200_000) }), status: 413 },
  { title: '20,000 unknown fields', path: `${CONFIG_MAPS}?dryRun=All`, body: () => ({ ...configMap(), ...fields(20_000) }), status: 201 },
  { title: '50,000 labels', path: `${CONFIG_MAPS}?dryRun=All`, body: () => configMap({ labels: fields(50_000) }), status: 201 },
  { title: '50,000 bad labels', path: CONFIG_MAPS, body: () => configMap({ labels: fields(50_000, '-') }), status: 422 },
  { title: 'a Pod of 20,000 volumes', path: '/api/v1/namespaces/default/pods?dryRun=All', body: podOfVolumes, status: 201 },
  {
    title: 'YAML of 60,000 maps',
    path: CONFIG_MAPS,
    type: 'application/yaml',
    body: () => `{apiVersion: v1, kind: ConfigMap, metadata: {name: u}, x: [${'{a: 1},'.repeat(60_000)}]}`,
    status: 413,
  },
];

for (const { title, path, method = 'POST', type = 'application/json', body, status } of COSTLY) {
  test(`a request with ${title} is answered within a bound of CPU time`, async (t) => {
    const { fetch, close } = await startTestServer();
    t.after(close);
    await fetch(CONFIG_MAPS, post(configMap({ name: 'c' })));
    await fetch('/apis/apps/v1/namespaces/default/deployments', post(deployment()));
    const content = body();
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    const before = process.cpuUsage();
    const answer = await fetch(path, { method, headers: { 'content-type': type }, body: text });
    await answer.arrayBuffer();
    const { user, system } = process.cpuUsage(before);
    assert.equal(answer.status, status);
    assert.ok((user + system) / 1000 < MAX_CPU_MS, `it took ${(user + system) / 1000} ms`);
  });
}

test('commas inside of a text are no values', async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const data = { table: '1,2,"3\\",'.repeat(100_000) };
  assert.equal((await fetch(CONFIG_MAPS, post({ ...configMap(), data }))).status, 201);
});

function post(body: unknown): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function repeat<T>(length: number, make: (index: number) => T): T[] {
  return Array.from({ length }, (_, index) => make(index));
}

function fields(count: number, prefix = ''): Record<string, string> {
  return Object.fromEntries(repeat(count, (index) => [`${prefix}f${index}`, '1']));
}

function variables(count: number, prefix: string): { name: string; value: string }[] {
  return repeat(count, (index) => ({ name: `${prefix}${index}`, value: 'x' }));
}

function configMap(metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'u', ...metadata } };
}

function deployment(): object {
  const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' }, spec: { selector: { matchLabels: { a: 'b' } }, template } };
}

function templateWith(container: object): object {
  return { spec: { template: { spec: { containers: [{ name: 'c', ...container }] } } } };
}

function podOfVolumes(): object {
  const volumes = repeat(20_000, (index) => ({ name: `v${index}`, emptyDir: {} }));
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }], volumes } };
}
