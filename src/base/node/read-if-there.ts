/** The text of files that may not be there. What else goes wrong names the file, which Node leaves out where a folder is in its place. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Undefined when there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => absentOrThrow(error, path));
}

/** The same without giving anybody else a turn. */
export function readIfThereSync(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return absentOrThrow(error as NodeJS.ErrnoException, path);
  }
}

function absentOrThrow(error: NodeJS.ErrnoException, path: string): undefined {
  if (error.code === 'ENOENT') return undefined;
  throw Object.assign(error, { path });
}
