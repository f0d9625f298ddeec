/** Certificates and keys on disk: private, replaced in one step, and never a certificate beside a key that is not its own. */
import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { writeFileDurably } from './durable-file.ts';
import { readIfThere } from './read-if-there.ts';

/** A certificate and its private key, both PEM. */
export type KeyPair = { readonly cert: string; readonly key: string };

/** Makes the folder and closes it to other users. */
export async function preparePkiFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
}

/** The pair of this name, or undefined when it was never completely written. */
export async function readKeyPair(folder: string, name: string): Promise<KeyPair | undefined> {
  const [cert, key] = await Promise.all([readIfThere(join(folder, `${name}.crt`)), readIfThere(join(folder, `${name}.key`))]);
  return cert === undefined || key === undefined ? undefined : { cert, key };
}

/** Stores a pair. The old certificate goes first and the new one comes last, so a crash in between leaves no pair, never a mixed one. */
export async function writeKeyPair(folder: string, name: string, { cert, key }: KeyPair): Promise<void> {
  await rm(join(folder, `${name}.crt`), { force: true });
  await writeFileDurably(join(folder, `${name}.key`), key);
  await writeFileDurably(join(folder, `${name}.crt`), cert);
}
