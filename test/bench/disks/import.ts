/**
 * A sparse qcow2 of 1 GiB from a web server onto a PVC, beside `qemu-img convert` of the same file alone, which has no network; beside the same by hand (curl,
 * `qemu-img convert`, `sync`); and the download that is a part of it, beside curl, which has the same network and the same disk.
 */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { guardedFetch } from '../../../src/images/guarded-fetch.ts';
import { downloadFile } from '../../../src/images/import/download-file.ts';
import { fillClaim } from '../../../src/virt-launcher/import/fill-claim.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const SERVER = join(import.meta.dirname, '../../e2e/folder-server.ts');
const GIB = 2 ** 30;
const DATA = '256M';

export async function measureImport({ folder, rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  const [file, claim] = [join(folder, 'disk.qcow2'), join(folder, 'claim')];
  const [copy, fetched] = [join(folder, 'copy'), join(folder, 'fetched')];
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', file, '1G']);
  execFileSync('qemu-io', ['-f', 'qcow2', '-c', `write -P 0x5a 100M ${DATA}`, file]);
  const server = fork(SERVER, [folder, '0'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [said] = await once(server.stdout ?? server, 'data');
  const origin = `http://127.0.0.1:${/\d+/.exec(String(said))?.[0]}`;
  const url = `${origin}/disk.qcow2`;
  const common = { fetch: guardedFetch(origin), clock: systemClock, signal: new AbortController().signal, onProgress: () => {} };
  const ways = {
    imported: () =>
      fillClaim({
        ...common,
        task: { from: 'http', url, sizeBytes: GIB },
        folder: claim,
        receive: () => Promise.reject(new Error('nobody sends anything')),
        searchPath: process.env['PATH'],
      }),
    downloaded: () => downloadFile({ ...common, url, folder: claim }),
    converted: () => synced('qemu-img', 'convert', '-O', 'qcow2', file, copy),
    curled: () => synced('curl', '-s', '-o', copy, url),
    byHand: async () => {
      execFileSync('curl', ['-s', '-o', fetched, url]);
      await synced('qemu-img', 'convert', '-O', 'qcow2', fetched, copy);
    },
  };
  const took = { imported: [], downloaded: [], converted: [], curled: [], byHand: [] } as Record<keyof typeof ways, number[]>;
  for (let round = 0; round < rounds; round++)
    for (const [way, work] of Object.entries(ways) as [keyof typeof ways, () => Promise<unknown>][]) {
      for (const made of [claim, copy, fetched]) rmSync(made, { recursive: true, force: true });
      mkdirSync(claim);
      took[way].push(await timed(work));
    }
  server.kill();
  return [
    {
      name: `import of a 1 GiB qcow2 with ${DATA}`,
      ours: median(took.imported),
      beside: { name: 'qemu-img convert and sync', value: median(took.converted) },
      unit: 'ms',
      aim: 'at most 1.1 x',
    },
    {
      name: 'the same again',
      ours: median(took.imported),
      beside: { name: 'curl, qemu-img convert and sync', value: median(took.byHand) },
      unit: 'ms',
      aim: 'at most 1.1 x',
    },
    {
      name: 'the download in that, and its sync',
      ours: median(took.downloaded),
      beside: { name: 'curl -o and sync', value: median(took.curled) },
      unit: 'ms',
    },
  ];

  /** Until the copy is on the disk. */
  async function synced(program: string, ...args: readonly string[]): Promise<void> {
    execFileSync(program, args);
    execFileSync('sync', [copy]);
  }
}
