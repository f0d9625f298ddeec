import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { vm, vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VMS = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
const FLAGS = { name: 'db', memory: '128Mi', disk: '1Gi', ephemeral: false, detach: true, dryRun: false, output: 'yaml' } as const;
const claim = { metadata: { namespace: 'default', name: 'db-root', uid: 'claim-1' } };

test('the claim first, then the machine, to which the claim then belongs', async () => {
  const answers = { [`POST ${CLAIMS}`]: claim, [`POST ${VMS}`]: vm('Always'), [`PATCH ${CLAIMS}/db-root`]: claim };
  const { deps, requests, stdout } = testDeps(answers);
  await run(deps, FLAGS, 'tiny');
  assert.deepEqual(
    requests.map(([request]) => request),
    [`GET ${VMS}/db`, `POST ${CLAIMS}`, `POST ${VMS}`, `PATCH ${CLAIMS}/db-root`],
  );
  assert.deepEqual(requests[3]?.[1], {
    metadata: { ownerReferences: [{ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'db', uid: 'vm-1' }] },
  });
  assert.equal(stdout(), 'db\n');
});

test('a machine that is refused leaves no claim', async () => {
  const { deps, requests } = testDeps({
    [`POST ${CLAIMS}`]: claim,
    [`POST ${VMS}`]: status('Invalid', 'memory is too small'),
    [`DELETE ${CLAIMS}/db-root`]: {},
  });
  await assert.rejects(run(deps, FLAGS, 'tiny'), { reason: 'Invalid', message: 'memory is too small' });
  assert.equal(requests.at(-1)?.[0], `DELETE ${CLAIMS}/db-root`);
});

test('a name that is taken is said of the machine, and nothing is made', async () => {
  const { deps, requests } = testDeps({ [`GET ${VMS}/db`]: vm('Always') });
  await assert.rejects(run(deps, FLAGS, 'tiny'), { reason: 'AlreadyExists', message: /virtualmachines.*"db" already exists/ });
  assert.equal(requests.length, 1);
});

test('--dry-run prints both and asks nobody; --ephemeral has no claim', async () => {
  const { deps, requests, stdout } = testDeps();
  await run(deps, { ...FLAGS, dryRun: true }, 'quay.io/team/disk:1');
  const kinds = parseAllDocuments(stdout()).map((document) => document.toJS().kind);
  assert.deepEqual([kinds, requests], [['PersistentVolumeClaim', 'VirtualMachine'], []]);
  const other = testDeps();
  await run(other.deps, { ...FLAGS, dryRun: true, ephemeral: true, output: 'json' }, 'tiny');
  assert.equal(JSON.parse(other.stdout()).spec.template.spec.volumes[0].containerDisk.image, 'localhost/guests/tiny:latest');
});

test('without --detach the console opens at the login prompt', async () => {
  async function* output() {
    yield Buffer.from('login: ');
  }
  const running = vmi('Running');
  const watch = new Response(`${JSON.stringify({ type: 'ADDED', object: running })}\n`);
  const { deps, stderr } = testDeps(
    {
      [`POST ${VMS}`]: vm('Always'),
      [`GET ${VMS}/db`]: vm('Always'),
      'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db': running,
      'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances?fieldSelector=metadata.name%3Ddb&watch=true&allowWatchBookmarks=true':
        watch,
    },
    { openConsole: async () => ({ output: output(), write() {}, takeOver() {}, close() {} }) },
  );
  await run(deps, { ...FLAGS, detach: false, ephemeral: true }, 'tiny');
  assert.match(stderr(), /✓ vm +db is running and waits at its login prompt[\s\S]*Connected to the console of db[\s\S]*db keeps running\./);
});

test('Ctrl+C while it is made says that nobody knows, and ends', async () => {
  const left: number[] = [];
  const { deps, signal, requests, stderr } = testDeps(
    { [`GET ${VMS}/db`]: () => new Response(new ReadableStream()) }, // an answer that does not come
    { exit: ((code: number) => left.push(code)) as never }, // goes on, where the program would have ended
  );
  void run(deps, FLAGS, 'tiny');
  await until(() => requests.length === 1, 'the question');
  signal('SIGINT');
  assert.deepEqual(left, [130]);
  assert.match(stderr(), /Interrupted while db was being made\. .*kubectl get pvc db-root/);
});

test('a name that cannot be one is told as the name of the machine, before anything is made', async () => {
  const { deps, requests } = testDeps();
  await assert.rejects(run(deps, { ...FLAGS, name: 'Hello_World' }, 'tiny'), { code: 'USAGE', fix: '--name hello-world' });
  assert.deepEqual(requests, []);
});
