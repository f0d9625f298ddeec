/** The demo guest's root file system: busybox, a few kernel modules, and the files under root/. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { type CpioEntry, MODE_CHARACTER_DEVICE, MODE_DIRECTORY, MODE_FILE, MODE_LINK, writeCpio } from './cpio.ts';
import { type Architecture, collectPrograms } from './programs.ts';

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
const FOLDERS = [
  'bin',
  'sbin',
  'usr',
  'usr/bin',
  'usr/sbin',
  'etc',
  'proc',
  'sys',
  'dev',
  'run',
  'tmp',
  'root',
  'lib',
  'lib/modules',
  'var',
];
/** What stands at the end of a signed module: the signature, 12 bytes of which the last four are its length, and this. */
const SIGNATURE_MARK = Buffer.from('~Module signature appended~\n');
const SIGNATURE_HEADER_BYTES = 12;

export type InitramfsInput = {
  readonly packagesDir: string;
  /** Our own files; a later folder replaces what an earlier one has. */
  readonly rootDirs: readonly string[];
  readonly applets: readonly string[];
  /** Drivers beside those that every guest has. */
  readonly drivers: readonly string[];
  /** Programs of the packages that come with their libraries. */
  readonly programs?: readonly string[] | undefined;
  /** Of the packages that they are from; the machine's own when left out. */
  readonly architecture?: Architecture | undefined;
};

/** The initramfs made from unpacked Debian packages and our own files. */
export function buildInitramfs({ packagesDir, rootDirs, applets, drivers, programs = [], architecture = 'amd64' }: InitramfsInput): Buffer {
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
  for (const entry of collectModules(join(packagesDir, 'lib/modules'), [...DRIVERS, ...drivers])) add(entry);
  for (const entry of collectPrograms(packagesDir, programs, architecture)) add(entry);
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

/**
 * The files of the drivers and of what they need, where `modprobe` looks for them, with its list: a line per driver, what it needs behind it in the reverse of the
 * order of loading.
 */
function collectModules(modulesDir: string, drivers: readonly string[]): CpioEntry[] {
  const [release = ''] = readdirSync(modulesDir);
  const byName = new Map<string, string>();
  for (const path of readdirSync(modulesDir, { recursive: true, encoding: 'utf8' })) {
    if (path.endsWith('.ko')) byName.set(canonical(basename(path, '.ko')), join(modulesDir, path));
  }
  const files = new Set<string>();
  const lines = drivers.map((driver) => {
    const needed = withDependencies(driver, byName);
    for (const file of needed) files.add(file);
    const [own, ...others] = needed.map((file) => basename(file)).toReversed();
    return `${own}: ${others.join(' ')}\n`;
  });
  const folder = `lib/modules/${release}`;
  const file = (name: string, data: Buffer): CpioEntry => ({ name: `${folder}/${name}`, mode: MODE_FILE | 0o644, data });
  return [
    { name: folder, mode: MODE_DIRECTORY | 0o755, data: Buffer.alloc(0) },
    ...[...files].sort().map((path) => file(basename(path), withoutSignature(readFileSync(path)))),
    file('modules.dep', Buffer.from(lines.join(''))),
  ];
}

/** A kernel that takes any module checks a signature all the same: for an emulated processor that is most of loading it. */
function withoutSignature(module: Buffer): Buffer {
  const end = module.length - SIGNATURE_MARK.length;
  if (!module.subarray(end).equals(SIGNATURE_MARK)) return module;
  return module.subarray(0, end - SIGNATURE_HEADER_BYTES - module.readUInt32BE(end - 4));
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
