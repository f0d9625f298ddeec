import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const FLAGS = { port: 2222, identityFile: 'key', kubeconfig: '/config' };

test('ssh of this machine gets a connection by way of ourselves, and its exit code is ours', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'ssh-'));
  t.after(() => rmSync(dir, { recursive: true }));
  writeFileSync(join(dir, 'ssh'), `#!/bin/sh\nfor each; do echo "$each"; done > ${dir}/said\nexit 9\n`);
  chmodSync(join(dir, 'ssh'), 0o755);
  const { deps } = testDeps({}, { env: { PATH: dir }, namespace: 'test' });
  assert.equal(await run(deps, FLAGS, 'root@vm/db'), 9);
  const said = readFileSync(join(dir, 'said'), 'utf8');
  assert.match(said, /ProxyCommand=.*\/nowhere\/virtctl.*port-forward.*--stdio/);
  assert.match(said, /--kubeconfig.*\/config/);
  assert.match(said, /^key$/m);
});

test('without ssh on this machine that is said', async () => {
  const { deps } = testDeps({}, { env: { PATH: '/nowhere' } });
  await assert.rejects(async () => run(deps, FLAGS, 'root@vm/db'), { code: 'SSH_MISSING', exitCode: 7 });
});
