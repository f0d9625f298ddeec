import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { vmi } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const runningIn = (namespace: string) => ({
  [`GET /apis/kubevirt.io/v1/namespaces/${namespace}/virtualmachineinstances/db`]: vmi('Running'),
});
const FLAGS = { port: 2222, identityFile: 'key', kubeconfig: '/config', recursive: true, preserve: false };

test('scp of this machine gets a connection by way of ourselves, and its exit code is ours', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'scp-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'scp'), `#!/bin/sh\nfor each; do echo "$each"; done > ${dir}/said\nexit 9\n`);
  chmodSync(join(dir, 'scp'), 0o755);
  const { deps } = testDeps(runningIn('test'), { env: { PATH: dir }, namespace: 'test' });
  assert.equal(await run(deps, FLAGS, 'file', 'root@vm/db:/tmp'), 9);
  const said = readFileSync(join(dir, 'said'), 'utf8');
  assert.match(said, /ProxyCommand=.*\/nowhere\/virtctl.*port-forward.*--stdio/);
  assert.match(said, /--kubeconfig.*\/config/);
  assert.match(said, /^key$/m);
});

test('without scp on this machine that is said', async () => {
  const { deps } = testDeps(runningIn('default'), { env: { PATH: '/nowhere' } });
  await assert.rejects(async () => run(deps, FLAGS, 'file', 'root@vm/db:/tmp'), { code: 'SSH_MISSING', exitCode: 7 });
});
