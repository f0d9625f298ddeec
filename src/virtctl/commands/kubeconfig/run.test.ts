import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('the path, once there is such a file', (t) => {
  const home = mkdtempSync(join(tmpdir(), 'kubeconfig-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout } = testDeps({}, { home });
  assert.throws(() => run(deps), { code: 'NOT_SET_UP', fix: 'virtctl up', exitCode: 3 });
  writeFileSync(join(home, 'kubeconfig'), '');
  run(deps);
  assert.equal(stdout(), `${join(home, 'kubeconfig')}\n`);
});
