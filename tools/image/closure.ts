/** A program and every library it needs, found in a tree of unpacked packages: what an image has to hold so that it runs. */
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../src/base/errors.ts';
import type { ImageFile } from '../../src/images/write-image.ts';
import { loaderOf, neededLibraries } from './elf.ts';

/** Where Debian's loader looks by itself. */
const FOLDERS = ['lib/x86_64-linux-gnu', 'usr/lib/x86_64-linux-gnu'];

/** The libraries (and the loader) that these programs need, each once and under the name by which it is asked for. */
export function librariesFor(root: string, programs: readonly string[]): ImageFile[] {
  const found = new Map<string, string>();
  const waiting = [...programs];
  for (let program = waiting.pop(); program !== undefined; program = waiting.pop()) {
    const loader = loaderOf(program);
    for (const name of [...neededLibraries(program), ...(loader ? [loader] : [])]) {
      const place = name.startsWith('/') ? name.slice(1) : `${FOLDERS[0]}/${name}`;
      if (found.has(place)) continue;
      const path = findLibrary(root, name, program);
      found.set(place, path);
      waiting.push(path);
    }
  }
  return [...found].sort(([a], [b]) => a.localeCompare(b)).map(([name, path]) => ({ name, path, mode: 0o755 }));
}

function findLibrary(root: string, name: string, wantedBy: string): string {
  const candidates = FOLDERS.map((folder) => join(root, folder, name.split('/').at(-1) ?? ''));
  const path = candidates.find((each) => existsSync(each));
  if (path) return realpathSync(path);
  throw new UserError('LIBRARY_MISSING', `${wantedBy} needs ${name}, which no package brought`, {
    why: `it is not in ${FOLDERS.join(' or ')}`,
    fix: 'add the package that has it to tools/image/build.ts',
  });
}
