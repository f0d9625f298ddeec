/** A catalogue of one image named `debian`, and its disk, in a folder that a web server on the loopback hands out. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { openImageStore } from '../../src/images/store.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

export type CatalogueGuest = { readonly name: string; readonly user: string; readonly memory: string; readonly disk: string };

export const DEBIAN: CatalogueGuest = { name: 'debian', user: 'debian', memory: '512Mi', disk: '3Gi' };
/** What takes its place where a minute counts. */
export const SMALL: CatalogueGuest = { name: 'tiny', user: 'root', memory: '128Mi', disk: '1Gi' };

/** Resolves with the folder, which is new. */
export async function writeCatalogue(
  folder: string,
  { port, guest: { name: guest, ...rest } }: { readonly port: number; readonly guest: CatalogueGuest },
): Promise<string> {
  const args = ['tools/guest-image/build.ts', guest];
  const layout = execFileSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] }).trim();
  const copy = join(folder, 'layout');
  mkdirSync(folder);
  cpSync(layout, copy, { recursive: true });
  const unpacked = join(await openImageStore(copy).unpacked(`localhost/guests/${guest}:latest`), 'disk');
  const [name = ''] = readdirSync(unpacked);
  copyFileSync(join(unpacked, name), join(folder, name));
  const digest = `sha256:${createHash('sha256')
    .update(readFileSync(join(folder, name)))
    .digest('hex')}`;
  const debian = { ...rest, sources: { amd64: { url: `http://127.0.0.1:${port}/${name}`, digest } }, agent: true };
  writeFileSync(join(folder, 'catalogue.json'), JSON.stringify({ images: { debian } }));
  return folder;
}
