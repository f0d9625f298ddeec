/** Schemas are for generating and checking: no program loads them, because that costs more time than most commands take. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = join(import.meta.dirname, '../..');
/** Imports of values: `import type` is gone at run time. Those inside functions count, too: a command loads its code when it is called. */
const IMPORT = /^(?:import|export)\s+(?!type\b)[^'";]*?from\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;

for (const program of readdirSync(join(ROOT, 'src/cmd')).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))) {
  test(`${program} does not load typebox`, () => {
    assert.deepEqual(wayTo('typebox', join(ROOT, 'src/cmd', program)), undefined);
  });
}

test('typebox is not among the packages that a program needs', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as Record<string, object>;
  assert.deepEqual(['typebox' in (dependencies ?? {}), 'typebox' in (devDependencies ?? {})], [false, true]);
});

/** The chain of files by which a package is reached. */
function wayTo(packageName: string, entry: string): string[] | undefined {
  const seen = new Map<string, string | undefined>([[entry, undefined]]);
  for (const file of seen.keys()) {
    for (const [, from, bare, dynamic] of readFileSync(file, 'utf8').matchAll(IMPORT)) {
      const target = from ?? bare ?? dynamic ?? '';
      if (target === packageName) return chain(file, seen);
      const path = resolve(dirname(file), target);
      if (target.startsWith('.') && !seen.has(path) && existsSync(path)) seen.set(path, file);
    }
  }
  return undefined;
}

function chain(file: string | undefined, seen: ReadonlyMap<string, string | undefined>): string[] {
  return file === undefined ? [] : [...chain(seen.get(file), seen), relative(ROOT, file)];
}
