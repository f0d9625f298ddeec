/** ARCHITECTURE.md against the tree: every file that it links is there, and the functions that its walks name are in their files. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';

const ROOT = resolve(import.meta.dirname, '../..');
const page = readFileSync(join(ROOT, 'ARCHITECTURE.md'), 'utf8');
const hops = [...page.matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\) `([^`]+)`/gm)].map(([, path = '', name = '']) => ({ path, name }));

test('what the page links is there', () => {
  const linked = [...page.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
  assert.ok(linked.length > 50);
  assert.deepEqual(
    linked.filter((path) => !existsSync(join(ROOT, path))),
    [],
  );
});

test('a hop of a walk names a function of its file', () => {
  assert.ok(hops.length > 50);
  assert.deepEqual(
    hops.filter(({ path, name }) => !new RegExp(`(?<![\\w$])${name}(?![\\w$])`).test(readFileSync(join(ROOT, path), 'utf8'))),
    [],
  );
});

test('the walks stay short', () => {
  const walks = page.split(/^### /m).slice(1);
  const lengths = walks.map((walk) => [walk.split('\n', 1)[0], [...walk.matchAll(/^\d+\. \[/gm)].length] as const);
  const most = [36, 10, 9, 7]; // 37, 11, 10 and 8 before each contract had one place
  assert.deepEqual(
    lengths.filter(([, hops], at) => hops > (most[at] ?? 0)),
    [],
  );
});
