import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { status, testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/kubevirt.io/v1/namespaces/default';
const list = (...items: object[]) => ({ metadata: {}, items });
const ONE = {
  [`GET ${BASE}/virtualmachines`]: list(vm('Always', { printableStatus: 'Running' })),
  [`GET ${BASE}/virtualmachineinstances`]: list(vmi('Running', { nodeName: 'n1' })),
  'GET /api/v1/namespaces/default/services': list(),
};

test('a line for each machine of the namespace', async () => {
  const { deps, stdout } = testDeps(ONE);
  await run(deps, { allNamespaces: false });
  assert.equal(stdout(), 'NAME  STATUS   AGE  IP  NODE\ndb    Running  0s   -   n1\n');
});

test('names, JSON and YAML are for programs', async () => {
  const said = async (output: 'name' | 'json' | 'yaml') => {
    const { deps, stdout } = testDeps(ONE);
    await run(deps, { allNamespaces: false, output });
    return stdout();
  };
  assert.equal(await said('name'), 'virtualmachine.kubevirt.io/db\n');
  assert.equal(JSON.parse(await said('json')).items[0].metadata.name, 'db');
  assert.match(await said('yaml'), /^apiVersion: v1\nkind: List\n/);
});

test('where there are none, that is said to the person and not to a program', async () => {
  const { deps, stdout, stderr } = testDeps({
    'GET /apis/kubevirt.io/v1/virtualmachines': list(),
    'GET /apis/kubevirt.io/v1/virtualmachineinstances': list(),
  });
  await run(deps, { allNamespaces: true });
  assert.deepEqual([stdout(), stderr()], ['', 'there are no machines in any namespace; virtctl run makes one\n']);
});

test('who may not see claims and Services still gets the wide table', async () => {
  const { deps, stdout } = testDeps({
    ...ONE,
    'GET /api/v1/namespaces/default/persistentvolumeclaims': status('Forbidden', 'no'),
    'GET /api/v1/namespaces/default/services': status('Forbidden', 'no'),
  });
  await run(deps, { allNamespaces: false, output: 'wide' });
  assert.match(stdout(), /^NAME .*IMAGE\ndb .*localhost\/guests\/tiny:latest\n$/);
});

test('a namespace that does not exist is not an empty one', async () => {
  const empty = { [`GET ${BASE}/virtualmachines`]: list(), [`GET ${BASE}/virtualmachineinstances`]: list() };
  const there = { 'GET /api/v1/namespaces/default': { metadata: { name: 'default' } } };
  for (const output of [undefined, 'json', 'name'] as const) {
    const flags = { allNamespaces: false, ...(output && { output }) };
    await assert.rejects(run(testDeps(empty).deps, flags), { reason: 'NotFound' });
    await run(testDeps({ ...empty, ...there }).deps, flags);
    await run(testDeps({ ...empty, 'GET /api/v1/namespaces/default': status('Forbidden', 'no') }).deps, flags);
  }
});

test('on a terminal states have a colour, and in a file they have none', async () => {
  const terminal = Object.assign(new PassThrough(), { isTTY: true });
  const { deps } = testDeps(ONE, { stdout: terminal });
  await run(deps, { allNamespaces: false });
  assert.ok(String(terminal.read()).includes('\x1b[32mRunning\x1b[0m'));
  const plain = testDeps(ONE, { stdout: terminal, env: { NO_COLOR: '1' } });
  await run(plain.deps, { allNamespaces: false });
  assert.ok(!String(terminal.read()).includes('\x1b'));
});
