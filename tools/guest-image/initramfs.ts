/** The demo guest's root file system: busybox, a few kernel modules, and the files under root/. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type CpioEntry, MODE_CHARACTER_DEVICE, MODE_DIRECTORY, MODE_FILE, MODE_LINK, writeCpio } from './cpio.ts';
import { collectPrograms } from './programs.ts';

/** Drivers that /init and /etc/rc may load, each with everything it needs. */
const DRIVERS = [
  'virtio_pci',
  'virtio_net',
  'virtio_blk',
  'virtio_console',
  'virtio-rng',
  'virtio_balloon',
  'virtio_scsi',
  'sd_mod',
  'sr_mod',
  'pvpanic-pci',
  'evdev',
  'button',
  'isofs',
  'virtiofs',
];
const FOLDERS = ['bin', 'sbin', 'usr', 'usr/bin', 'usr/sbin', 'etc', 'proc', 'sys', 'dev', 'run', 'tmp', 'root', 'modules', 'var'];

export type InitramfsInput = {
  readonly packagesDir: string;
  /** Our own files; a later folder replaces what an earlier one has. */
  readonly rootDirs: readonly string[];
  readonly applets: readonly string[];
  /** Drivers beside those that every guest has. */
  readonly drivers: readonly string[];
  /** Programs of the packages that come with their libraries. */
  readonly programs?: readonly string[] | undefined;
};

/** The initramfs made from unpacked Debian packages and our own files. */
export function buildInitramfs({ packagesDir, rootDirs, applets, drivers, programs = [] }: InitramfsInput): Buffer {
  const entries = new Map<string, CpioEntry>();
  const add = (entry: CpioEntry) => entries.set(entry.name, entry);
  for (const folder of FOLDERS) add({ name: folder, mode: MODE_DIRECTORY | 0o755, data: Buffer.alloc(0) });
  add({ name: 'dev/console', mode: MODE_CHARACTER_DEVICE | 0o600, data: Buffer.alloc(0), device: { major: 5, minor: 1 } });
  add({ name: 'bin/busybox', mode: MODE_FILE | 0o755, data: readFileSync(join(packagesDir, 'bin/busybox')) });
  for (const applet of applets.filter((name) => name !== 'busybox'))
    add({ name: `bin/${applet}`, mode: MODE_LINK | 0o777, data: Buffer.from('/bin/busybox') });
  for (const applet of ['init', 'getty', 'reboot'])
    add({ name: `sbin/${applet}`, mode: MODE_LINK | 0o777, data: Buffer.from('/bin/busybox') });
  entries.delete('bin/poweroff'); // ours, under sbin, is quicker
  const { list, files } = collectModules(join(packagesDir, 'lib/modules'), [...DRIVERS, ...drivers]);
  for (const file of files) add({ name: `modules/${basename(file)}`, mode: MODE_FILE | 0o644, data: readFileSync(file) });
  add({ name: 'etc/modules.list', mode: MODE_FILE | 0o644, data: Buffer.from(list) });
  for (const entry of collectPrograms(packagesDir, programs)) add(entry);
  for (const rootDir of rootDirs) for (const entry of ownFiles(rootDir)) add(entry);
  return writeCpio([...entries.values()]);
}

function ownFiles(rootDir: string): CpioEntry[] {
  const paths = readdirSync(rootDir, { recursive: true, encoding: 'utf8' }).sort();
  return paths.map((name) => {
    const info = statSync(join(rootDir, name));
    if (info.isDirectory()) return { name, mode: MODE_DIRECTORY | 0o755, data: Buffer.alloc(0) };
    const permissions = name === 'etc/shadow' ? 0o600 : info.mode & 0o111 ? 0o755 : 0o644;
    return { name, mode: MODE_FILE | permissions, data: readFileSync(join(rootDir, name)) };
  });
}

/** For each driver a line with the files to load, dependencies first; and the set of all those files. */
function collectModules(modulesDir: string, drivers: readonly string[]): { list: string; files: string[] } {
  const byName = new Map<string, string>();
  for (const path of readdirSync(modulesDir, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.ko')) byName.set(canonical(basename(path, '.ko')), join(modulesDir, path));
  }
  const files = new Set<string>();
  const lines = drivers.map((driver) => {
    const needed = withDependencies(driver, byName);
    for (const file of needed) files.add(file);
    return [driver, ...needed.map((file) => basename(file))].join(' ');
  });
  return { list: `${lines.join('\n')}\n`, files: [...files].sort() };
}

/** Each module says in its .modinfo section what it depends on; the package has no modules.dep. */
function withDependencies(name: string, byName: ReadonlyMap<string, string>): string[] {
  const file = byName.get(canonical(name));
  if (!file) throw new Error(`the kernel package has no module ${name} under ${relative('.', [...byName.values()][0] ?? '')}`);
  const depends = /\0depends=([^\0]*)\0/.exec(readFileSync(file, 'latin1'))?.[1] ?? '';
  const before = depends
    .split(',')
    .filter(Boolean)
    .flatMap((dependency) => withDependencies(dependency, byName));
  return [...new Set([...before, file])];
}

function canonical(name: string): string {
  return name.replaceAll('-', '_');
}
