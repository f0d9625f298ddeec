/** Programs of unpacked Debian packages, with every library that they need, as files of the guest. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type CpioEntry, MODE_DIRECTORY, MODE_FILE } from './cpio.ts';
import { readElfNeeds } from './elf.ts';

/** Where Debian's loader looks by itself, by the architecture of the packages. */
const LIBRARIES = { amd64: 'lib/x86_64-linux-gnu', i386: 'lib/i386-linux-gnu' } as const;
export type Architecture = keyof typeof LIBRARIES;

/** `paths` are those of the programs, in the packages and in the guest. Throws when a library is in none of the packages. */
export function collectPrograms(packagesDir: string, paths: readonly string[], architecture: Architecture): CpioEntry[] {
  if (paths.length === 0) return [];
  const folder = LIBRARIES[architecture];
  const libraries = findLibraries(packagesDir, folder);
  const found = new Map<string, Buffer>();
  const take = (target: string, source: string) => {
    if (found.has(target)) return;
    const data = readFileSync(source);
    found.set(target, data);
    const { libraries: names, interpreter } = readElfNeeds(data);
    for (const name of names) take(join(folder, name), sourceOf(name));
    if (interpreter) take(interpreter.slice(1), sourceOf(basename(interpreter)));
  };
  const sourceOf = (name: string): string => {
    const source = libraries.get(name);
    if (!source) throw new Error(`none of the packages has the library ${name}`);
    return source;
  };
  for (const path of paths) take(path, join(packagesDir, path));
  const entries = [...found].map(([name, data]): CpioEntry => ({ name, mode: MODE_FILE | 0o755, data }));
  const folders = new Set(entries.flatMap(({ name }) => parentsOf(name)));
  return [...[...folders].sort().map((name): CpioEntry => ({ name, mode: MODE_DIRECTORY | 0o755, data: Buffer.alloc(0) })), ...entries];
}

function findLibraries(packagesDir: string, folder: string): Map<string, string> {
  const folders = [folder, `usr/${folder}`].map((each) => join(packagesDir, each)).filter((each) => existsSync(each));
  return new Map(folders.flatMap((each) => readdirSync(each).map((name): [string, string] => [name, join(each, name)])));
}

function parentsOf(path: string): string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}
