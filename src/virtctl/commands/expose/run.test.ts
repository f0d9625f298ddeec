import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { identify } from '../../../base/node/process-identity.ts';
import { vm } from '../../../testing/builders.ts';
import { type Answers, testDeps } from '../../deps.testing.ts';
import { statePath } from '../../embedded/paths.ts';
import { type ExposeFlags, run } from './run.ts';

const VM = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const POST = 'POST /api/v1/namespaces/default/services';
const FLAGS: ExposeFlags = { name: 'db-http', protocol: 'TCP', type: 'ClusterIP' };

test('a Service for the launcher Pods of a machine, running or not', async () => {
  const { deps, requests, stdout } = testDeps({ [VM]: vm('Halted'), [POST]: {} });
  await run(deps, { ...FLAGS, port: 8080, targetPort: '80' }, 'vm', 'db');
  assert.deepEqual(requests[1], [
    POST,
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'db-http', namespace: 'default' },
      spec: { type: 'ClusterIP', selector: { 'vmi.kubevirt.io/id': 'db' }, ports: [{ protocol: 'TCP', port: 8080, targetPort: 80 }] },
    },
  ]);
  assert.equal(stdout(), 'Service db-http successfully created for virtualmachine db\n');
});

test('a name alone is a VM, and its Service is called by its port', async () => {
  for (const words of [['db'], ['vm/db']]) {
    const { deps, requests, stdout } = testDeps({ [VM]: vm('Halted'), [POST]: {} });
    await run(deps, { protocol: 'TCP', type: 'ClusterIP', port: 80 }, ...words);
    assert.match(JSON.stringify(requests[1]), /"metadata":\{"name":"db-80"/);
    assert.equal(stdout(), 'Service db-80 successfully created for virtualmachine db\n');
  }
  await assert.rejects(run(testDeps().deps, FLAGS, 'vm', 'a', 'b'), { code: 'USAGE', message: /one machine at a time/ });
});

test('without a port, and none declared, nothing is made', async () => {
  const { deps, requests } = testDeps({ [VM]: vm('Halted') });
  await assert.rejects(run(deps, FLAGS, 'vm', 'db'), { code: 'USAGE', fix: /--port/ });
  assert.equal(requests.length, 1);
});

test('a machine that is not there, and a kind that has no guests', async () => {
  await assert.rejects(run(testDeps().deps, { ...FLAGS, port: 80 }, 'vm', 'db'), { reason: 'NotFound' });
  await assert.rejects(run(testDeps().deps, { ...FLAGS, port: 80 }, 'pod', 'db'), {
    code: 'USAGE',
    message: /unsupported resource type: pod/,
  });
});

const SERVICE = 'GET /api/v1/namespaces/default/services/db-http';
const servedAt = (port: number) => ({
  metadata: { name: 'db-http', namespace: 'default', annotations: { 'kubevirt.io/host-addresses': `80:30080/TCP=127.0.0.1:${port}` } },
  spec: { ports: [{ port: 80 }] },
});

/** As if the cluster that answers were the embedded one of this data folder. */
function embedded(t: TestContext, answers: Answers, network = 'namespace') {
  const home = mkdtempSync(join(tmpdir(), 'expose-'));
  t.after(() => rmSync(home, { recursive: true }));
  mkdirSync(dirname(statePath(home)), { recursive: true });
  writeFileSync(statePath(home), JSON.stringify({ process: identify(process.pid), port: 6443, network }));
  const known = { [VM]: vm('Halted'), [POST]: {}, 'GET /version': { gitCommit: 'kubevirt-ts' }, ...answers };
  return testDeps(known, { home, server: 'https://127.0.0.1:6443' });
}

async function listening(t: TestContext): Promise<{ server: Server; port: number }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return { server, port: (server.address() as { port: number }).port };
}

test('a port of the host that is free is asked for by an annotation, and its address is said', async (t) => {
  const { server, port } = await listening(t);
  server.close();
  await once(server, 'close');
  const { deps, requests, stdout } = embedded(t, { [SERVICE]: servedAt(port) });
  await run(deps, { ...FLAGS, port: 80, hostPort: port }, 'vm', 'db');
  const [, sent] = requests.find(([request]) => request === POST) ?? [];
  const { metadata, spec } = sent as { metadata: { annotations: object }; spec: { type: string } };
  assert.deepEqual([metadata.annotations, spec.type], [{ 'kubevirt.io/host-port': String(port) }, 'NodePort']);
  assert.match(stdout(), new RegExp(`\nhttp://127\\.0\\.0\\.1:${port}\n$`));
});

test('a port of the host that is taken is refused with who has it, and nothing is made', async (t) => {
  const { port } = await listening(t);
  const other = { metadata: { name: 'web', namespace: 'team', annotations: { 'kubevirt.io/host-port': String(port) } }, spec: {} };
  for (const [items, why] of [
    [[], 'another program listens there'],
    [[other], 'the Service team/web has it'],
  ] as const) {
    const { deps, requests } = embedded(t, { 'GET /api/v1/services': { metadata: {}, items } });
    const asked = run(deps, { ...FLAGS, port: 80, hostPort: port }, 'vm', 'db');
    await assert.rejects(asked, { code: 'HOST_PORT_TAKEN', why, fix: `choose another one: --host-port ${port + 1}` });
    assert.equal(
      requests.some(([request]) => request === POST),
      false,
    );
  }
});

test('a port of the host is a number, for one port, of the embedded cluster of this machine with a network of its own', async (t) => {
  const refused = (deps: ReturnType<typeof testDeps>['deps'], flags: object, message: RegExp) =>
    assert.rejects(run(deps, { ...FLAGS, port: 80, ...flags }, 'vm', 'db'), { code: 'USAGE', message });
  for (const hostPort of [0, 65_536, 1.5]) await refused(embedded(t, {}).deps, { hostPort }, /is an invalid port/);
  await refused(testDeps({ [VM]: vm('Halted'), 'GET /version': {} }).deps, { hostPort: 8080 }, /embedded cluster of this machine/);
  await refused(embedded(t, {}, 'host').deps, { hostPort: 8080 }, /network of the cluster/);
});

test('a port that somebody else took meanwhile is told with the address that there is instead', async (t) => {
  const { server, port } = await listening(t);
  server.close();
  await once(server, 'close');
  const { deps, stderr } = embedded(t, { [SERVICE]: servedAt(30_080) });
  await run(deps, { ...FLAGS, port: 80, hostPort: port }, 'vm', 'db');
  assert.match(stderr(), /took port \d+ meanwhile; it is reached at http:\/\/127\.0\.0\.1:30080/);
});
