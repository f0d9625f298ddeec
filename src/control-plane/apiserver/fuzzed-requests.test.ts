/** Requests made from our own schemas, with wrong types, sizes and nesting: every one is answered, none with a fault of ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apiVersionOf, pathOf } from '../../api/resource.ts';
import { isObject } from '../../base/json.ts';
import { fuzzedValue, type Random, seededRandom } from './fuzzed-objects.testing.ts';
import { startTestServer } from './test-server.testing.ts';
import { builtInTypes } from './types/built-in-types.ts';
import type { ResourceType } from './types/resource-type.ts';

/** The full count is for `npm run test:soak`. */
const REQUESTS = Number(process.env['FUZZED_REQUESTS'] ?? 3_000);
const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_116);
const MAX_CPU_MS = 1_000;
const PATCHES = ['application/merge-patch+json', 'application/strategic-merge-patch+json', 'application/json-patch+json'];

type Sent = { readonly path: string; readonly method: string; readonly type: string; readonly body: string };

test(`${REQUESTS} fuzzed requests give no answer of 500 and above, and none takes long`, async (t) => {
  const { fetch, close } = await startTestServer();
  t.after(close);
  const random = seededRandom(SEED);
  const types = builtInTypes({}).filter(({ schema }) => schema);
  const failures: string[] = [];
  for (let count = 0; count < REQUESTS; count += 1) {
    const { path, method, type, body } = requestFor(types[Math.floor(random() * types.length)]!, random); // the index is below the length
    const before = process.cpuUsage();
    const answer = await fetch(path, { method, headers: { 'content-type': type }, body: method === 'GET' ? undefined : body });
    const text = path.includes('watch=') ? '' : await answer.text();
    if (path.includes('watch=')) await answer.body?.cancel();
    const { user, system } = process.cpuUsage(before);
    if (answer.status >= 500 || (user + system) / 1000 > MAX_CPU_MS)
      failures.push(
        `${method} ${path} ${type} ${body.slice(0, 300)}: ${answer.status} after ${(user + system) / 1000} ms: ${text.slice(0, 200)}`,
      );
  }
  t.diagnostic(`${REQUESTS} requests, ${failures.length} answered wrongly or late`);
  assert.deepEqual(failures.slice(0, 20), []);
});

function requestFor(type: ResourceType, random: Random): Sent {
  const base = pathOf(type, type.isNamespaced ? { namespace: 'default' } : {});
  const name = `n${Math.floor(random() * 20)}`;
  const wrongness = random() < 0.5 ? 0.05 : 0.3;
  const value = fuzzedValue(type.schema ?? {}, random, { wrongness });
  const object = isObject(value) ? { apiVersion: apiVersionOf(type), kind: type.kind, ...value } : value;
  const named = isObject(object) && random() < 0.9 ? { ...object, metadata: metadataFor(object['metadata'], name) } : object;
  const dice = random();
  const query = random() < 0.3 ? '?dryRun=All' : '';
  if (dice < 0.5) return { path: base + query, method: 'POST', type: 'application/json', body: JSON.stringify(named) };
  if (dice < 0.65) return { path: `${base}/${name}${query}`, method: 'PUT', type: 'application/json', body: JSON.stringify(named) };
  if (dice < 0.75) return { path: `${base}/${name}/status${query}`, method: 'PUT', type: 'application/json', body: JSON.stringify(named) };
  if (dice < 0.95) {
    const kind = PATCHES[Math.floor(random() * PATCHES.length)] ?? '';
    const operations = [{ op: 'add', path: '/spec', value: isObject(value) ? value['spec'] : value }];
    return {
      path: `${base}/${name}${query}`,
      method: 'PATCH',
      type: kind,
      body: JSON.stringify(kind.startsWith('application/json') ? operations : value),
    };
  }
  const selector = encodeURIComponent(JSON.stringify(fuzzedValue({ type: 'string' }, random, { wrongness: 0.8 })));
  return { path: `${base}?fieldSelector=${selector}&labelSelector=${selector}&limit=${selector}`, method: 'GET', type: '', body: '' };
}

function metadataFor(fuzzed: unknown, name: string): unknown {
  return isObject(fuzzed) ? { ...fuzzed, name, namespace: undefined, resourceVersion: undefined, uid: undefined } : { name };
}
