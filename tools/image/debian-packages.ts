/** Which Debian packages the files of an image are from. */
import { execFileSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { relative } from 'node:path';
import type { ImageFile } from '../../src/images/write-image.ts';

export type DebianPackage = { readonly name: string; readonly version: string; readonly architecture: string };
/** The files are named as in an unpacked tree, without a leading slash. */
export type DebianPackageFiles = DebianPackage & { readonly files: readonly string[] };

/** Name, version and files of packages that were downloaded. */
export function describePackages(debs: readonly string[]): DebianPackageFiles[] {
  return debs.map((deb) => {
    const field = (name: string) => execFileSync('dpkg-deb', ['--field', deb, name], { encoding: 'utf8' }).trim();
    const tar = execFileSync('dpkg-deb', ['--fsys-tarfile', deb], { maxBuffer: 2 ** 30 });
    const list = execFileSync('tar', ['--list', '--quoting-style=literal'], { input: tar, encoding: 'utf8', maxBuffer: 2 ** 28 });
    const files = list.split('\n').map((line) => line.replace(/^\.\//, ''));
    const isFile = (path: string) => path !== '' && !path.endsWith('/');
    return { name: field('Package'), version: field('Version'), architecture: field('Architecture'), files: files.filter(isFile).sort() };
  });
}

/** The packages of which at least one file is among these; `root` is where they were unpacked. */
export function packagesOf(
  files: readonly ImageFile[],
  { root, packages }: { root: string; packages: readonly DebianPackageFiles[] },
): DebianPackage[] {
  const real = realpathSync(root);
  const used = new Set(files.flatMap((file) => ('path' in file ? [relative(real, realpathSync(file.path))] : [])));
  return packages
    .filter((each) => each.files.some((path) => used.has(path)))
    .map(({ name, version, architecture }) => ({ name, version, architecture }));
}
