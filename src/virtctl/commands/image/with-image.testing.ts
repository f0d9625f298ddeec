/** A data folder with an image of a disk in it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { importImage } from '../../../images/import-file.ts';
import { openImageStore } from '../../../images/store.ts';
import { testDeps } from '../../deps.testing.ts';

/** The image is localhost/disk:1; all of it goes after the test. */
export async function withImage(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), 'image-'));
  t.after(() => rmSync(home, { recursive: true }));
  const path = join(home, 'disk.raw');
  writeFileSync(path, Buffer.alloc(2 ** 20, 'disk'));
  const store = openImageStore(join(home, 'images'));
  const { digest } = await importImage({ storeDir: join(home, 'images'), path, reference: 'localhost/disk:1' });
  return { ...testDeps({}, { home }), digest, store };
}
