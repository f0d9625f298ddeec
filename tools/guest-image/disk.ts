/** A bootable disk image without mounting anything: an MBR, one FAT partition, syslinux, kernel and initramfs. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;
const SECTOR = 512;
const PARTITION_OFFSET = MIB;
/** Types of partitions. */
const FAT16 = 0x0e;
const LINUX = 0x83;
/** What the boot loader tells the kernel. `no_timer_check`: without it a busy host panics the boot now and then. */
export const QUICK_KERNEL_ARGUMENTS = [
  'console=tty0 console=ttyS0 quiet no_timer_check',
  'tsc=reliable mitigations=off nokaslr random.trust_cpu=on cryptomgr.notests audit=0 8250.nr_uarts=1 rcupdate.rcu_expedited=1 transparent_hugepage=never',
].join(' ');
/** For guests in which nobody is to be kept from anything: a self-test, access control at every call, and zeroes in every page that is given out. */
const SMALL_KERNEL_ARGUMENTS = 'initcall_blacklist=crypto_kdf108_init lsm=lockdown init_on_alloc=0 kfence.sample_interval=0';
/** A FAT with fewer clusters is no FAT16 any more; with some room for what the FAT itself takes. */
const FEWEST_CLUSTERS = 4085 + 200;

export type DiskInput = {
  readonly packagesDir: string;
  readonly kernel: string;
  /** A file. */
  readonly initramfs: string;
  readonly workDir: string;
  readonly disk: string;
  readonly kernelArguments?: string;
  /** A file system that becomes a second partition, up to the end of the disk. */
  readonly rootImage?: string;
};

/** Writes `disk`, a raw image just large enough. */
export function writeBootDisk(input: DiskInput): void {
  const {
    packagesDir,
    kernel,
    initramfs,
    workDir,
    disk,
    kernelArguments = `${QUICK_KERNEL_ARGUMENTS} ${SMALL_KERNEL_ARGUMENTS}`,
    rootImage,
  } = input;
  const configFile = join(workDir, 'syslinux.cfg');
  writeFileSync(
    configFile,
    `DEFAULT tiny\nPROMPT 0\nTIMEOUT 0\nLABEL tiny\n  LINUX /vmlinuz\n  INITRD /initrd.img\n  APPEND ${kernelArguments}\n`,
  );
  // Where a system is installed, there is room for the next kernel beside this one.
  const contentBytes = (statSync(kernel).size + statSync(initramfs).size) * (rootImage ? 2 : 1);
  const sizeMib = Math.ceil(contentBytes / MIB) + 8;
  const rootMib = rootImage ? Math.ceil(statSync(rootImage).size / MIB) : 0;

  writeFileSync(disk, partitionTable(join(packagesDir, 'usr/lib/syslinux/mbr/mbr.bin'), { sizeMib, rootMib }));
  truncateSync(disk, PARTITION_OFFSET + (sizeMib + rootMib) * MIB);
  const tool = (name: string, args: readonly string[]) => runTool(packagesDir, name, args);
  tool('sbin/mkfs.fat', [
    '-F',
    '16',
    ...(rootImage ? [] : ['-s', String(sectorsPerCluster(sizeMib))]),
    '-n',
    rootImage ? 'BOOT' : 'TINY',
    '-i',
    '7469796e',
    '--offset',
    String(PARTITION_OFFSET / SECTOR),
    disk,
    String(sizeMib * 1024),
  ]);
  const partition = `${disk}@@${PARTITION_OFFSET}`;
  tool('usr/bin/mcopy', ['-i', partition, kernel, '::vmlinuz']);
  tool('usr/bin/mcopy', ['-i', partition, initramfs, '::initrd.img']);
  tool('usr/bin/mcopy', ['-i', partition, configFile, '::syslinux.cfg']);
  tool('usr/bin/syslinux', ['--offset', String(PARTITION_OFFSET), '--install', disk]);
  setPartitionHiddenSectors(disk);
  if (rootImage) copyInto(disk, rootImage, PARTITION_OFFSET + sizeMib * MIB);
}

/** As many as can be: the boot loader, which is emulated, looks every cluster up. */
function sectorsPerCluster(sizeMib: number): number {
  const fitting = [4, 8, 16, 32, 64].filter((sectors) => (sizeMib * MIB) / SECTOR / sectors >= FEWEST_CLUSTERS);
  return fitting.at(-1) ?? 1;
}

/** Boot code and a table with one active FAT16 partition, and one for Linux behind it where there is something for it. */
function partitionTable(bootCode: string, { sizeMib, rootMib }: { readonly sizeMib: number; readonly rootMib: number }): Buffer {
  const sector = Buffer.alloc(SECTOR);
  readFileSync(bootCode).copy(sector, 0, 0, 440);
  writeEntry(sector, { at: 446, isActive: true, type: FAT16, begin: PARTITION_OFFSET, sizeMib });
  if (rootMib > 0) writeEntry(sector, { at: 462, isActive: false, type: LINUX, begin: PARTITION_OFFSET + sizeMib * MIB, sizeMib: rootMib });
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
}

type PartitionEntry = {
  readonly at: number;
  readonly isActive: boolean;
  readonly type: number;
  readonly begin: number;
  readonly sizeMib: number;
};

function writeEntry(sector: Buffer, { at, isActive, type, begin, sizeMib }: PartitionEntry): void {
  sector.writeUInt8(isActive ? 0x80 : 0, at);
  sector.set([0xfe, 0xff, 0xff], at + 1); // no cylinders: what follows counts
  sector.writeUInt8(type, at + 4);
  sector.set([0xfe, 0xff, 0xff], at + 5);
  sector.writeUInt32LE(begin / SECTOR, at + 8);
  sector.writeUInt32LE((sizeMib * MIB) / SECTOR, at + 12);
}

/** Holes stay holes. */
function copyInto(disk: string, image: string, offset: number): void {
  execFileSync('dd', [`if=${image}`, `of=${disk}`, `bs=${MIB}`, `seek=${offset / MIB}`, 'conv=notrunc,sparse', 'status=none']);
}

/** The FAT header must know where on the disk it stands, or the boot sector reads the wrong sectors. */
function setPartitionHiddenSectors(disk: string): void {
  const value = Buffer.alloc(4);
  value.writeUInt32LE(PARTITION_OFFSET / SECTOR);
  const file = openSync(disk, 'r+');
  writeSync(file, value, 0, 4, PARTITION_OFFSET + 0x1c);
  closeSync(file);
}

function runTool(packagesDir: string, name: string, args: readonly string[]): void {
  const path = `${join(packagesDir, 'usr/bin')}:${process.env['PATH']}`; // syslinux calls mtools by name
  execFileSync(join(packagesDir, name), args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, PATH: path, MTOOLS_SKIP_CHECK: '1' },
  });
}
