import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

test('each file has its verdict and the counts of its tests, and a violation is an exit that is not 0', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-counts-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const files: Readonly<Record<string, string>> = {
    'a.test.mjs': "test('kills', (t) => t.diagnostic('1000 kills'));",
    'b.test.mjs': "describe('s', () => { test('one', () => {}); test('two', () => { throw new Error('lost'); }); });",
    'c.test.mjs': "test('guests', { skip: 'no QEMU' }, () => {});",
    'd.test.mjs': 'process.exit(3);',
  };
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(folder, name), `import { describe, test } from 'node:test';\n${text}`);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env; // a runner of its own
  const reporter = `--test-reporter=${join(import.meta.dirname, 'report-counts.ts')}`;
  const { stdout, status } = spawnSync(process.execPath, ['--test', reporter, ...Object.keys(files)], {
    encoding: 'utf8',
    env,
    cwd: folder,
  });
  const rows = [
    'HELD     a.test.mjs: 1 passed, 0 failed, 0 skipped, 0 s',
    '         1000 kills',
    'VIOLATED b.test.mjs: 1 passed, 1 failed, 0 skipped, 0 s',
    'NOT RUN  c.test.mjs: 0 passed, 0 failed, 1 skipped, 0 s',
    'VIOLATED d.test.mjs: 0 passed, 1 failed, 0 skipped, 0 s',
    '1 of 4 parts held',
  ];
  assert.deepEqual([stdout.trimEnd().split('\n'), status], [rows, 1]);
});
