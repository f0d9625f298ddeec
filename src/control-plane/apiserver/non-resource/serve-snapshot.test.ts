import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { openStore } from '../../store/store.ts';
import { startTestServer } from '../test-server.testing.ts';

test('a snapshot of a server at work is a whole store, for administrators only', async (t) => {
  const { fetch, store, close } = await startTestServer();
  t.after(close);
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-test-'));
  t.after(() => rm(folder, { recursive: true }));
  const [response] = await Promise.all([
    fetch('/snapshot'),
    ...Array.from({ length: 200 }, (_, i) => store.write({ key: `core/configmaps/default/${i}`, value: { metadata: { name: `${i}` } } })),
  ]);
  assert.equal(response.status, 200);
  const path = join(folder, 'store.db');
  await writeFile(path, Buffer.from(await response.arrayBuffer()));
  const copy = openStore({ path });
  t.after(() => copy.close());
  assert.ok(copy.get('core/namespaces//default'));
  assert.deepEqual(copy.list(''), store.listAt('', copy.revision));
  const stranger = { user: 'bob', groups: ['system:authenticated'] };
  assert.equal((await fetch('/snapshot', {}, stranger)).status, 403);
});
