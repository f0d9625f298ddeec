import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

test('a machine without QEMU is unfit, and every check is shown', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'doctor-'));
  t.after(() => rmSync(home, { recursive: true }));
  const said = async (json: boolean) => {
    const { deps, stdout } = testDeps({}, { home, cache: home, env: { PATH: '/nowhere', KUBEVIRT_QEMU: '/nowhere/qemu' } });
    await assert.rejects(run(deps, { json, store: false }), { code: 'HOST_UNFIT', exitCode: 7, message: /qemu/ });
    return stdout();
  };
  const { ok, checks } = JSON.parse(await said(true)) as { ok: boolean; checks: { name: string; status: string }[] };
  assert.deepEqual([ok, checks.find(({ name }) => name === 'qemu')?.status], [false, 'failed']);
  const lines = await said(false);
  for (const { name } of checks) assert.match(lines, new RegExp(`^ {2}[✓!✗] ${name} `, 'm'));
});
