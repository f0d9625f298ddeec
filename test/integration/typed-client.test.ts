/** Each kind of ours from TypeScript, on the real API server: get, list, watch and cache, typed by its Resource. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parse } from 'yaml';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import { type KubeObject, keyOf } from '../../src/api/meta.ts';
import type { Resource } from '../../src/api/resource.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { startCache } from '../../src/client/cache.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = readdirSync(join(ROOT, 'examples'))
  .filter((name) => name.endsWith('.yaml'))
  .map((name) => parse(readFileSync(join(ROOT, 'examples', name), 'utf8')) as KubeObject);

describe('the typed client', { timeout: 60_000 }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    await applyManifests(server.client, join(ROOT, 'deploy/crds'), (object) => object);
  });
  after(() => server.close());

  for (const resource of KINDS as readonly Resource[]) {
    test(`${resource.kind}: get, list, watch and cache`, async (t) => {
      const { client } = server;
      const where = resource.isNamespaced ? { namespace: 'default' } : {};
      const stop = new AbortController();
      t.after(() => stop.abort());
      const cache = startCache({ client, resource, ...where, clock: systemClock, log: silentLogger, signal: stop.signal });
      await cache.synced;
      const changes: string[] = [];
      const settled = new Promise<void>((resolve) => {
        cache.subscribe(() => {
          changes.push(
            cache
              .list()
              .map(({ metadata }) => metadata.labels?.['seen'] ?? 'new')
              .join() || 'gone',
          );
          if (changes.at(-1) === 'gone') resolve();
        });
      });
      const { resourceVersion } = await client.list(resource, where);
      const manifest = EXAMPLES.find(({ kind }) => kind === resource.kind);
      assert.ok(manifest, `examples/ has no ${resource.kind}`);
      const made = await client.create(resource, { ...manifest, metadata: { name: 'mine', ...where } });
      const at = { name: 'mine', ...where };
      assert.deepEqual(await client.get(resource, at), made);
      assert.deepEqual((await client.list(resource, where)).items, [made]);
      await client.patch(resource, at, { metadata: { labels: { seen: 'changed' } } });
      await client.delete(resource, at);

      const events: string[] = [];
      for await (const { type, object } of client.watch(resource, { ...where, resourceVersion, signal: stop.signal })) {
        events.push(`${type} ${object.kind} ${keyOf(object.metadata)}`);
        if (type === 'DELETED') break;
      }
      const told = (type: string) => `${type} ${resource.kind} ${keyOf(at)}`;
      assert.deepEqual(events, [told('ADDED'), told('MODIFIED'), told('DELETED')]);
      await settled;
      assert.deepEqual(changes, ['new', 'changed', 'gone']);
    });
  }
});
