/** The disk of the demo guest, as a file of this machine. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIndex } from '../../src/images/layout.ts';
import { openImageStore } from '../../src/images/store.ts';
import type { EmbeddedCluster } from './harness.ts';

/** From the store of an embedded cluster; of a real one, from the image as it was built. */
export async function demoDisk(cluster: EmbeddedCluster): Promise<string> {
  if (process.env['E2E_REAL_CLUSTER'] !== undefined) return unpackedGuest(join(cluster.home, 'guest'));
  const folder = join(await openImageStore(join(cluster.home, 'images')).unpacked('localhost/guests/tiny:latest'), 'disk');
  return join(folder, readdirSync(folder)[0] ?? '');
}

function unpackedGuest(into: string): string {
  const layout = execFileSync(process.execPath, ['tools/guest-image/build.ts', 'tiny'], { encoding: 'utf8' }).trim();
  const blob = (digest: string) => join(layout, 'blobs', ...digest.split(':'));
  const [descriptor] = readIndex(layout);
  const { layers } = JSON.parse(readFileSync(blob(descriptor?.digest ?? ''), 'utf8')) as { layers: { digest: string }[] };
  mkdirSync(into);
  for (const { digest } of layers) execFileSync('tar', ['-xf', blob(digest), '-C', into]);
  return join(into, 'disk', readdirSync(join(into, 'disk'))[0] ?? '');
}
