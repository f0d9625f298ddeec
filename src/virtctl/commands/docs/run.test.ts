import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { until } from '../../../testing/until.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const docs = mkdtempSync(join(tmpdir(), 'docs-'));
after(() => rmSync(docs, { recursive: true }));
writeFileSync(join(docs, 'index.html'), '<h1>first</h1>');
writeFileSync(join(docs, 'tasks-images.html'), '<h1>images</h1>');
writeFileSync(join(docs, 'search.js'), 'search()');
writeFileSync(join(docs, 'secret.txt'), 'of no type that is served');

test('pages are served where it is said, to who reads, until it is ended', async () => {
  const { deps, stdout, signal } = testDeps({}, { docs });
  const running = run(deps, { open: false });
  await until(() => stdout().endsWith('\n'), 'the address');
  const address = stdout().trim();
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+\/$/);
  const read = async (path: string, init?: RequestInit) => {
    const answer = await fetch(new URL(path, address), init);
    return [answer.status, answer.headers.get('content-type'), await answer.text()];
  };
  assert.deepEqual(await read('/'), [200, 'text/html; charset=utf-8', '<h1>first</h1>']);
  assert.deepEqual(await read('/tasks-images.html?x#y'), [200, 'text/html; charset=utf-8', '<h1>images</h1>']);
  assert.deepEqual(await read('/search.js'), [200, 'text/javascript; charset=utf-8', 'search()']);
  for (const path of ['/secret.txt', '/nowhere.html', '/%2e%2e/package.json', '/__proto__']) assert.equal((await read(path))[0], 404, path);
  assert.equal((await read('/', { method: 'POST' }))[0], 405);
  signal('SIGINT');
  await running;
  await assert.rejects(fetch(address));
});

test('a port that is none or taken, and pages that were not built, are said', async (t) => {
  await assert.rejects(run(testDeps({}, { docs }).deps, { open: false, port: 70_000 }), { code: 'USAGE', exitCode: 2 });
  await assert.rejects(run(testDeps().deps, { open: false }), { code: 'DOCS_MISSING', fix: /bootstrap/ });
  const taken = createServer().listen(0, '127.0.0.1');
  t.after(() => taken.close());
  await until(() => taken.listening, 'the other program');
  const { port } = taken.address() as AddressInfo;
  await assert.rejects(run(testDeps({}, { docs }).deps, { open: false, port }), { code: 'PORT_IN_USE' });
});
