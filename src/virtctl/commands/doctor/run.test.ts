import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
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

test('on a terminal of 80 columns no line is wider than that, unless it is one word, and marks have a colour', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'doctor-'));
  t.after(() => rmSync(home, { recursive: true }));
  const terminal = Object.assign(new PassThrough(), { isTTY: true, columns: 80 });
  const { deps } = testDeps({}, { home, cache: home, stdout: terminal, env: { PATH: '/nowhere', KUBEVIRT_QEMU: '/nowhere/qemu' } });
  await assert.rejects(run(deps, { json: false, store: false }), { code: 'HOST_UNFIT' });
  const said = String(terminal.read());
  assert.ok(said.includes('\x1b[31m✗\x1b[0m qemu'), said);
  for (const line of stripVTControlCharacters(said).split('\n')) assert.ok(line.length <= 80 || !line.trim().includes(' '), line);
});
