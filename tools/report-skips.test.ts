import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('what was skipped is counted by its reason', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-skips-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'some.test.mjs');
  const lines = [
    "import { describe, test } from 'node:test';",
    "test('one', { skip: 'no root' }, () => {});",
    "describe('two', { skip: 'no root' }, () => { test('three', () => {}); });",
    "test('four', (t) => t.skip());",
    "test('five', () => {});",
  ];
  writeFileSync(file, lines.join('\n'));
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // a runner of its own
  const reporter = `--test-reporter=${join(import.meta.dirname, 'report-skips.ts')}`;
  const { stdout } = spawnSync(process.execPath, ['--test', reporter, file], { encoding: 'utf8', env });
  assert.equal(stdout, 'SKIPPED 2: no root\n  one\n  two\nSKIPPED 1: no reason given\n  four\n');
});
