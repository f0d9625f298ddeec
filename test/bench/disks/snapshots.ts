/** Keeping and bringing back a disk of 10 GiB with 1 GiB of data, and reading one that is the twentieth copy of a copy, beside a plain one. */
import { execFileSync } from 'node:child_process';
import { constants, copyFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { FolderCopies } from '../../../src/control-plane/volumes/folder-copies.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const CHAIN = 20;
const CHAIN_MIB = 64;

export async function measureSnapshots({ folder, rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  const copies = new FolderCopies(systemClock);
  const copy = async (from: string, into: string) => {
    copies.begin({ from, path: into, owner: 'bench' });
    for (;;) {
      const state = await copies.stateOf(into);
      if (state.is === 'whole') return;
      if (state.is === 'failed') throw new Error(state.message);
      await systemClock.sleep(2);
    }
  };
  const how = sharesBlocks(folder) ? 'sharing blocks' : 'copied: this file system shares no blocks';
  const large = join(folder, 'large');
  makeDisk(large, { size: '10G', mebibytes: 1024 });
  const [kept, back, plain]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < rounds; round++) {
    const names = ['snapshot', 'restored', 'by-cp'].map((name) => join(folder, name)) as [string, string, string];
    kept.push(await timed(() => copy(large, names[0])));
    back.push(await timed(() => copy(names[0], names[1])));
    plain.push(await timed(() => execFileSync('cp', ['-a', '--sparse=always', '--reflink=auto', large, names[2]])));
    for (const name of names) rmSync(name, { recursive: true });
  }
  rmSync(large, { recursive: true });
  const chain = join(folder, 'chain-0');
  makeDisk(chain, { size: `${CHAIN_MIB}M`, mebibytes: CHAIN_MIB });
  for (let each = 1; each <= CHAIN; each++) await copy(join(folder, `chain-${each - 1}`), join(folder, `chain-${each}`));
  const cp = { name: 'cp, not synced', value: median(plain) };
  return [
    { name: `snapshot of 10 GiB with 1 GiB, ${how}`, ours: median(kept), beside: cp, unit: 'ms', aim: 'at most 500' },
    { name: 'restore of it', ours: median(back), beside: cp, unit: 'ms', aim: 'at most 500' },
    {
      name: `reading after ${CHAIN} snapshots`,
      ours: await readSpeed(join(folder, `chain-${CHAIN}`)),
      beside: { name: 'a plain disk', value: await readSpeed(chain) },
      unit: 'MiB/s',
    },
  ];
}

function makeDisk(folder: string, { size, mebibytes }: { size: string; mebibytes: number }): void {
  mkdirSync(folder);
  const file = join(folder, 'disk.img');
  execFileSync('qemu-img', ['create', '-q', '-f', 'raw', file, size]);
  execFileSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1M', `count=${mebibytes}`, 'conv=notrunc,fsync', 'status=none']);
}

function sharesBlocks(folder: string): boolean {
  const [one, other] = [join(folder, 'one'), join(folder, 'other')];
  writeFileSync(one, 'x');
  try {
    copyFileSync(one, other, constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    return false;
  }
}

/** As QEMU reads, without the cache of the host. */
async function readSpeed(folder: string): Promise<number> {
  const requests = CHAIN_MIB;
  const args = ['bench', '-f', 'raw', '-t', 'none', '-c', String(requests), '-s', '1M', '-d', '4', join(folder, 'disk.img')];
  const times: number[] = [];
  for (let round = 0; round < 5; round++) times.push(await timed(() => execFileSync('qemu-img', args)));
  return Math.round(CHAIN_MIB / (median(times) / 1000));
}
