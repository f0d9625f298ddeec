/** The images of the embedded cluster: what is there, and how to bring, rename and remove them. */
import { join } from 'node:path';
import { formatBytes } from '../../base/quantity.ts';
import { importImage } from '../../images/import-file.ts';
import { normaliseReference } from '../../images/references.ts';
import { openImageStore } from '../../images/store.ts';
import type { Context } from '../context.ts';
import { renderTable } from '../table.ts';

const MIB = 2 ** 20;

export async function list(this: Context): Promise<void> {
  const images = await openImageStore(storeDir(this)).list();
  const rows = images.map(({ reference, digest, sizeBytes }) => [
    reference,
    digest.slice(7, 19),
    formatBytes(Math.ceil(sizeBytes / MIB) * MIB),
  ]);
  this.process.stdout.write(rows.length === 0 ? 'no images\n' : renderTable([['NAME', 'DIGEST', 'SIZE'], ...rows]));
}

export async function tag(this: Context, _flags: object, source: string, target: string): Promise<void> {
  openImageStore(storeDir(this)).tag(source, target);
  this.process.stdout.write(`${normaliseReference(target)} is ${normaliseReference(source)}\n`);
}

export async function importFile(this: Context, _flags: object, path: string, name: string): Promise<void> {
  openImageStore(storeDir(this));
  const { digest } = await importImage({ storeDir: storeDir(this), path, reference: name });
  this.process.stdout.write(`${normaliseReference(name)} imported, ${digest.slice(7, 19)}\n`);
}

export async function remove(this: Context, _flags: object, name: string): Promise<void> {
  openImageStore(storeDir(this)).remove(name);
  this.process.stdout.write(`${normaliseReference(name)} removed\n`);
}

function storeDir(context: Context): string {
  return join(context.home, 'images');
}
