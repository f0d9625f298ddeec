/** A tenant that writes without end, to an API server with a small heap: it serves on, and so does the next one on its store. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

const HEAP_MB = 200;
const SOURCE = new URL('../../src/', import.meta.url).href;

/** Writes ConfigMaps as somebody who is no administrator until one is refused, or they are half as much again as the heap. */
const WRITER = `
import { createApiServer } from '${SOURCE}control-plane/apiserver/create-api-server.ts';
import { openStore } from '${SOURCE}control-plane/store/store.ts';
import { systemClock } from '${SOURCE}base/clock.ts';
import { silentLogger } from '${SOURCE}base/log.ts';
const store = openStore({ path: process.argv[1] });
const server = await createApiServer({ store, clock: systemClock, log: silentLogger });
const send = (user, method, path, body) =>
  server.handle(new Request('https://api' + path, { method, body: body && JSON.stringify(body), headers: { 'content-type': 'application/json' } }), user);
const admin = { user: 'admin', groups: ['system:masters', 'system:authenticated'] };
const tenant = { user: 'tenant', groups: ['system:authenticated'] };
const group = 'rbac.authorization.k8s.io';
await send(admin, 'POST', '/apis/' + group + '/v1/namespaces/default/rolebindings', {
  metadata: { name: 'edit' }, roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'edit' }, subjects: [{ kind: 'User', name: 'tenant' }],
});
const at = '/api/v1/namespaces/default/configmaps';
let [status, count] = [201, 0];
for (; status === 201 && count < ${HEAP_MB * 3}; count += 1) {
  const answer = await send(tenant, 'POST', at, { metadata: { generateName: 'm-' }, data: { x: 'x'.repeat(500_000) } });
  status = answer.status;
  await answer.text();
}
const listed = (await send(tenant, 'GET', at + '?limit=1')).status;
const other = (await send(admin, 'POST', '/api/v1/namespaces/kube-system/configmaps', { metadata: { generateName: 'own-' } })).status;
server.close();
store.close();
console.log(JSON.stringify({ status, isFull: count < ${HEAP_MB * 3}, listed, other }));
`;

test('a namespace that is filled without end neither ends the API server nor keeps the next one from starting', {
  timeout: 120_000,
}, (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'full-namespace-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const flags = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', WRITER];
  for (const run of ['first', 'next']) {
    const { status, stdout, stderr } = spawnSync(process.execPath, [...flags, join(dir, 'store.db')], { encoding: 'utf8' });
    assert.equal(status, 0, `the ${run} one ended: ${stderr.slice(-500)}`);
    assert.deepEqual(JSON.parse(stdout), { status: 403, isFull: true, listed: 200, other: 201 });
  }
});
