/** Certificates and keys on disk: private, replaced in one step, and never a certificate beside a key that is not its own. */
import { chmod, mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

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
  await writeFileAtomically(join(folder, `${name}.key`), key);
  await writeFileAtomically(join(folder, `${name}.crt`), cert);
}

/** Replaces a file in one step; readers see the old content or the new one. Only the owner may read it. */
export async function writeFileAtomically(path: string, content: string): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`;
  await rm(temporary, { force: true });
  const file = await open(temporary, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(temporary, path);
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
