import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestFiles, formatSums, parseSums } from './sums.ts';

const HEX = 'ab'.repeat(32);

test('sha256sum agrees, also about files in folders', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-sums-'));
  t.after(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'images'));
  writeFileSync(join(folder, 'b.mjs'), 'b');
  writeFileSync(join(folder, 'images/a.tar'), 'a');
  const text = formatSums(await digestFiles(folder, ['images/a.tar', 'b.mjs']));
  writeFileSync(join(folder, 'SHA256SUMS'), text);
  const said = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder, encoding: 'utf8' });
  assert.equal(said, 'b.mjs: OK\nimages/a.tar: OK\n');
  assert.equal(formatSums(parseSums(text)), text);
});

for (const name of ['../x', '/etc/passwd', 'a/../../x', './a', 'a//b', 'a b', 'a\u0000', ''])
  test(`the name ${JSON.stringify(name)} is refused in SHA256SUMS`, () =>
    assert.throws(() => parseSums(`${HEX}  ${name}\n`), { code: 'SUMS_INVALID' }));

test('an empty SHA256SUMS, and one that was cut, are refused', () => {
  for (const text of ['', '\n', `${HEX}  a`, `${HEX.slice(1)}  a\n`]) assert.throws(() => parseSums(text), { code: 'SUMS_INVALID' });
});
