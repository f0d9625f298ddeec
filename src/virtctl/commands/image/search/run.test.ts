import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

test('a word finds names and descriptions, those of the user among them', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'search-'));
  t.after(() => rmSync(home, { recursive: true }));
  const images = {
    web: { description: 'A server on Debian', sources: { amd64: { url: 'https://images.example.com/web.qcow2' } }, memory: '1Gi' },
  };
  writeFileSync(join(home, 'catalogue.json'), JSON.stringify({ images }));
  const { deps, stdout } = testDeps({}, { home });
  await run(deps, {}, 'DEBIAN');
  const lines = stdout().trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.split(/ {2,}/)[0]),
    ['NAME', 'debian', 'debian:12', 'debian:13', 'web'],
  );
  assert.match(lines[1] ?? '', /^debian +debian +1Gi +10Gi +amd64, arm64 +is debian:13$/);
  assert.match(lines[4] ?? '', new RegExp(`^web +- +1Gi +- +amd64 +A server on Debian \\(${home}/catalogue.json\\)$`));
});

test('a word that nothing has is an error that says where names come from', async () => {
  await assert.rejects(run(testDeps().deps, {}, 'windows'), { code: 'NAME_MISSING', exitCode: 3 });
});
