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
  await run(deps);
  assert.equal(stdout(), `NAME              DIGEST        SIZE\nlocalhost/disk:1  ${digest.slice(7, 19)}  1Mi\n`);
});

test('where there are none, that is said', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const { deps, stdout } = testDeps({}, { home });
  await run(deps);
  assert.equal(stdout(), 'no images\n');
});
