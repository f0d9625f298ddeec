/** Programs on PATH. */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** The path of a program that can be run, or undefined; an empty PATH stands for the usual folders. */
export function findProgram(name: string, path: string | undefined): string | undefined {
  const folders = (path || '/usr/local/bin:/usr/bin:/bin').split(':');
  return folders.map((folder) => join(folder || '.', name)).find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
