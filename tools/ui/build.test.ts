import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { temporaryFolder } from '../../src/qemu/qmp/qemu.testing.ts';
import { buildUi } from './build.ts';

const MOST_BYTES = 200_000;

test('what the page needs at once is small: consoles, screen and YAML come when somebody opens them', async (t) => {
  const folder = join(await temporaryFolder(t), 'ui');
  await buildUi(folder);
  const text = (name: string) => readFileSync(join(folder, name), 'utf8');
  const isAtOnce = (name: string) => /^main-.*\.(js|css)$|^index\.html$/.test(name);
  const first = new Set(readdirSync(folder).filter(isAtOnce)); // a set grows while it is walked
  for (const name of first) for (const [, chunk = ''] of text(name).matchAll(/(?:from|import)"\.\/([\w-]+\.js)"/g)) first.add(chunk);
  const bytes = [...first].reduce((sum, name) => sum + gzipSync(text(name)).length, 0);
  assert.ok(first.size > 3 && bytes > 10_000 && bytes <= MOST_BYTES, `${bytes} bytes in ${[...first].join(', ')}`);
});
