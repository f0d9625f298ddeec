import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { testDeps } from '../../../deps.testing.ts';
import { withImage } from '../with-image.testing.ts';
import { run } from './run.ts';

test('a line for each name', async (t) => {
  const { deps, stdout, digest } = await withImage(t);
  await run(deps, {});
  assert.equal(stdout(), `NAME              DIGEST        SIZE\nlocalhost/disk:1  ${digest.slice(7, 19)}  1Mi\n`);
});

test('for programs: names alone, or JSON, also where there are none', async (t) => {
  const names = await withImage(t);
  await run(names.deps, { output: 'name' });
  assert.equal(names.stdout(), 'localhost/disk:1\n');
  const json = await withImage(t);
  await run(json.deps, { output: 'json' });
  const [{ sizeBytes, ...image }] = JSON.parse(json.stdout());
  assert.deepEqual([image, typeof sizeBytes], [{ reference: 'localhost/disk:1', digest: json.digest }, 'number']);
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const empty = testDeps({}, { home });
  await run(empty.deps, { output: 'json' });
  assert.equal(empty.stdout(), '[]\n');
});

test('where there are none, that is said', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout } = testDeps({}, { home });
  await run(deps, {});
  assert.equal(stdout(), 'no images\n');
});
