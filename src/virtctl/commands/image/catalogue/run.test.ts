import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const TEAM = { images: { web: { description: 'Of the team', sources: { amd64: { url: 'https://images.example.com/web.qcow2' } } } } };

async function world(t: TestContext, published: object) {
  const home = mkdtempSync(join(tmpdir(), 'catalogue-'));
  const server = createServer((_, response) => response.end(JSON.stringify(published)));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    server.close();
    rmSync(home, { recursive: true });
  });
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/catalogue.json`;
  return { home, address, server, said: () => testDeps({}, { home }) };
}

test('a catalogue is added with its names, and removed with them; what else is in the file stays', async (t) => {
  const { home, address, said } = await world(t, TEAM);
  writeFileSync(join(home, 'catalogue.json'), '{"cacheGiB": 5}');
  const added = said();
  await run(added.deps, {}, 'add', address);
  assert.equal(added.stdout(), `${address} added, 1 name\n`);
  const listed = said();
  await run(listed.deps, {});
  assert.match(listed.stdout(), new RegExp(`\nweb .* Of the team \\(${address}\\)\n`));
  await run(said().deps, {}, 'remove', address);
  assert.deepEqual(JSON.parse(readFileSync(join(home, 'catalogue.json'), 'utf8')), { cacheGiB: 5, catalogues: [] });
  assert.deepEqual(readdirSync(join(home, 'catalogues')), []);
});

test('a catalogue with mistakes is not added, and each mistake is named', async (t) => {
  const { home, address, said } = await world(t, {
    images: { web: { sources: { amd64: { url: 'http://images.example.com/x' } } } },
    cacheGiB: 1,
  });
  await assert.rejects(run(said().deps, {}, 'add', address), {
    code: 'CATALOGUE_INVALID',
    why: /"cacheGiB" is not known.*\.amd64\.url is not https/,
  });
  assert.deepEqual(readdirSync(home), []);
});

test('one that is out of reach later is used from its copy, and that is said', async (t) => {
  const { home, address, server, said } = await world(t, TEAM);
  await run(said().deps, {}, 'add', address);
  server.close();
  const later = testDeps({}, { home, clock: { ...said().deps.clock, now: () => Date.now() + 48 * 3600_000 } });
  await run(later.deps, {});
  assert.match(later.stderr(), /cannot be had now, the copy of 20\d\d-\d\d-\d\d is used/);
  assert.match(later.stdout(), /\nweb /);
});

test('what is no address, no verb or not there is said', async (t) => {
  const { said } = await world(t, TEAM);
  await assert.rejects(run(said().deps, {}, 'add', 'http://images.example.com/'), { code: 'USAGE', why: /not https/ });
  await assert.rejects(run(said().deps, {}, 'debian'), { code: 'USAGE', fix: /image search WORD/ });
  await assert.rejects(run(said().deps, {}, 'remove', 'https://images.example.com/'), { code: 'CATALOGUE_MISSING', exitCode: 3 });
});
