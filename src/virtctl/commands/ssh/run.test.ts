import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { ensureSshKey } from '../../ssh/ssh-key.ts';
import { run } from './run.ts';

const runningIn = (namespace: string) => ({
  [`GET /apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/db`]: vmi('Running'),
});
const FLAGS = { port: 2222, identityFile: 'key', kubeconfig: '/config' };

test('ssh of this machine gets a connection by way of ourselves, and its exit code is ours', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ssh-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'ssh'), `#!/bin/sh\nfor each; do echo "$each"; done > ${dir}/said\nexit 9\n`);
  chmodSync(join(dir, 'ssh'), 0o755);
  const { deps } = testDeps(runningIn('test'), { env: { PATH: dir }, namespace: 'test' });
  assert.equal(await run(deps, FLAGS, 'root@vm/db'), 9);
  const said = readFileSync(join(dir, 'said'), 'utf8');
  assert.match(said, /ProxyCommand=.*\/nowhere\/virtctl.*port-forward.*--stdio/);
  assert.match(said, /--kubeconfig.*\/config/);
  assert.match(said, /^key$/m);
});

test('who is not named is the user of the annotation, and our key is tried', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ssh-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'ssh'), `#!/bin/sh\nfor each; do echo "$each"; done > ${dir}/said\n`, { mode: 0o755 });
  const { privateKeyPath } = await ensureSshKey(join(dir, 'home'));
  const instance = vmi('Running', {}, { annotations: { 'kubevirt.io/login-user': 'debian' } });
  const path = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
  const { deps } = testDeps({ [path]: instance }, { env: { PATH: dir }, home: join(dir, 'home') });
  const said = async (target: string, flags = {}) => {
    await run(deps, { port: 22, ...flags }, target);
    return readFileSync(join(dir, 'said'), 'utf8').split('\n');
  };
  const byDefault = await said('vm/db');
  assert.deepEqual([byDefault.includes(privateKeyPath), byDefault.includes('debian@vm.db.default')], [true, true]);
  assert.ok((await said('me@vm/db')).includes('me@vm.db.default'));
  assert.ok((await said('vm/db', { username: 'you' })).includes('you@vm.db.default'));
  assert.ok(!(await said('me@vm/db', { identityFile: 'mine' })).includes(privateKeyPath));
});

test('words behind the machine are a command, as for ssh itself; two commands are refused', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ssh-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'ssh'), `#!/bin/sh\nfor each; do echo "$each"; done > ${dir}/said\n`, { mode: 0o755 });
  const { deps } = testDeps(runningIn('default'), { env: { PATH: dir } });
  await run(deps, FLAGS, 'root@vm/db', 'uname', '-a');
  assert.match(readFileSync(join(dir, 'said'), 'utf8'), /\nroot@vm\.db\.default\n--\nuname\n-a\n$/);
  await assert.rejects(run(deps, { ...FLAGS, command: 'id' }, 'root@vm/db', 'uname'), {
    code: 'USAGE',
    fix: 'virtctl ssh root@vm/db -- uname',
  });
});

test('a machine that does not run is said before ssh says that its connection was closed', async () => {
  const stopped = vm('Halted', { printableStatus: 'Stopped' });
  const { deps } = testDeps({ 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db': stopped });
  await assert.rejects(run(deps, FLAGS, 'db'), { code: 'VM_NOT_RUNNING', why: 'it is Stopped', fix: 'virtctl start db', exitCode: 4 });
  await assert.rejects(run(deps, FLAGS, 'nobody'), { reason: 'NotFound', message: /no virtual machine "nobody"/ });
});

test('without ssh on this machine that is said', async () => {
  const { deps } = testDeps(runningIn('default'), { env: { PATH: '/nowhere' } });
  await assert.rejects(async () => run(deps, FLAGS, 'root@vm/db'), { code: 'SSH_MISSING', exitCode: 7 });
});
