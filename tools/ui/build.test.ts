import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildUi } from './build.ts';

const FIRST_LOAD_BYTES = 200_000;

test('the page begins with three scripts, and names all of them itself', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'page-'));
  t.after(() => rmSync(root, { recursive: true }));
  await buildUi(join(root, 'ui'));
  const page = readFileSync(join(root, 'ui/index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(\w+-\w+\.js)"/g)].map(([, name = '']) => name);
  const needed = named.flatMap((name) => importsOf(readFileSync(join(root, 'ui', name), 'utf8')));
  assert.deepEqual(
    { named: named.map((name) => name.replace(/-.*/, '')), unnamed: needed.filter((name) => !named.includes(name)) },
    { named: ['begin', 'main', 'chunk'], unnamed: [] },
  );
});

test('what the page begins with is 200 kB at the most, compressed as it is sent', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'page-'));
  t.after(() => rmSync(root, { recursive: true }));
  await buildUi(join(root, 'ui'));
  const page = readFileSync(join(root, 'ui/index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/([\w-]+\.(?:js|css))"/g)].map(([, name = '']) => name);
  const sizes = ['index.html', ...named].map((name) => gzipSync(readFileSync(join(root, 'ui', name))).length);
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(named.length >= 4 && bytes <= FIRST_LOAD_BYTES, `${named.length} files, ${bytes} bytes`);
});

/** Static ones: what follows `from`, or an `import` without names. */
function importsOf(script: string): string[] {
  return [...script.matchAll(/(?:\bfrom|\bimport)"\.\/([\w-]+\.js)"/g)].map(([, name = '']) => name);
}
