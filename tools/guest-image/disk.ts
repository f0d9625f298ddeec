/** A bootable disk image without mounting anything: an MBR, one FAT partition, syslinux, kernel and initramfs. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';

const MIB = 1024 * 1024;
const SECTOR = 512;
const PARTITION_OFFSET = MIB;
/** What the boot loader tells the kernel. `no_timer_check`: without it a busy host panics the boot now and then. */
const KERNEL_ARGUMENTS = [
  'console=tty0 console=ttyS0 quiet no_timer_check',
  'tsc=reliable mitigations=off nokaslr random.trust_cpu=on cryptomgr.notests audit=0 8250.nr_uarts=1 rcupdate.rcu_expedited=1 transparent_hugepage=never',
].join(' ');

export type DiskInput = {
  readonly packagesDir: string;
  readonly kernel: string;
  readonly initramfs: Uint8Array;
  readonly workDir: string;
  readonly disk: string;
};

/** Writes `disk`, a raw image just large enough. */
export function writeBootDisk({ packagesDir, kernel, initramfs, workDir, disk }: DiskInput): void {
  const initramfsFile = join(workDir, 'initrd.img');
  const configFile = join(workDir, 'syslinux.cfg');
  writeFileSync(initramfsFile, initramfs);
  writeFileSync(
    configFile,
    `DEFAULT tiny\nPROMPT 0\nTIMEOUT 0\nLABEL tiny\n  LINUX /vmlinuz\n  INITRD /initrd.img\n  APPEND ${KERNEL_ARGUMENTS}\n`,
  );
  const sizeMib = Math.ceil((readFileSync(kernel).length + initramfs.length) / MIB) + 8;

  writeFileSync(disk, partitionTable(join(packagesDir, 'usr/lib/syslinux/mbr/mbr.bin'), sizeMib));
  truncateSync(disk, PARTITION_OFFSET + sizeMib * MIB);
  const tool = (name: string, args: readonly string[]) => runTool(packagesDir, name, args);
  tool('sbin/mkfs.fat', [
    '-F',
    '16',
    '-n',
    'TINY',
    '-i',
    '7469796e',
    '--offset',
    String(PARTITION_OFFSET / SECTOR),
    disk,
    String(sizeMib * 1024),
  ]);
  const partition = `${disk}@@${PARTITION_OFFSET}`;
  tool('usr/bin/mcopy', ['-i', partition, kernel, '::vmlinuz']);
  tool('usr/bin/mcopy', ['-i', partition, initramfsFile, '::initrd.img']);
  tool('usr/bin/mcopy', ['-i', partition, configFile, '::syslinux.cfg']);
  tool('usr/bin/syslinux', ['--offset', String(PARTITION_OFFSET), '--install', disk]);
  setPartitionHiddenSectors(disk);
}

/** Boot code and a table with one active FAT16 partition. */
function partitionTable(bootCode: string, sizeMib: number): Buffer {
  const sector = Buffer.alloc(SECTOR);
  readFileSync(bootCode).copy(sector, 0, 0, 440);
  const entry = 446;
  sector.writeUInt8(0x80, entry);
  sector.set([0xfe, 0xff, 0xff], entry + 1);
  sector.writeUInt8(0x0e, entry + 4);
  sector.set([0xfe, 0xff, 0xff], entry + 5);
  sector.writeUInt32LE(PARTITION_OFFSET / SECTOR, entry + 8);
  sector.writeUInt32LE((sizeMib * MIB) / SECTOR, entry + 12);
  sector.writeUInt16LE(0xaa55, 510);
  return sector;
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
