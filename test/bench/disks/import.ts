/** A sparse qcow2 of 1 GiB from a web server onto a PVC, beside `qemu-img convert` of the same file alone. */
import { execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../../src/base/clock.ts';
import { guardedFetch } from '../../../src/images/guarded-fetch.ts';
import { fillClaim } from '../../../src/virt-launcher/import/fill-claim.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const SERVER = join(import.meta.dirname, '../../e2e/folder-server.ts');
const GIB = 2 ** 30;
const DATA = '256M';

export async function measureImport({ folder, rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  const [file, claim, converted] = ['disk.qcow2', 'claim', 'converted.qcow2'].map((name) => join(folder, name)) as [string, string, string];
  execFileSync('qemu-img', ['create', '-q', '-f', 'qcow2', file, '1G']);
  execFileSync('qemu-io', ['-f', 'qcow2', '-c', `write -P 0x5a 100M ${DATA}`, file]);
  const server = fork(SERVER, [folder, '0'], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const [said] = await once(server.stdout ?? server, 'data');
  const origin = `http://127.0.0.1:${/\d+/.exec(String(said))?.[0]}`;
  const [ours, theirs]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round++) {
    rmSync(claim, { recursive: true, force: true });
    mkdirSync(claim);
    rmSync(converted, { force: true });
    theirs.push(
      await timed(() => {
        execFileSync('qemu-img', ['convert', '-O', 'qcow2', file, converted]);
        execFileSync('sync', [converted]);
      }),
    );
    ours.push(
      await timed(() =>
        fillClaim({
          task: { from: 'http', url: `${origin}/disk.qcow2`, sizeBytes: GIB },
          folder: claim,
          fetch: guardedFetch(origin),
          receive: () => Promise.reject(new Error('nobody sends anything')),
          searchPath: process.env['PATH'],
          clock: systemClock,
          signal: new AbortController().signal,
          onProgress: () => {},
        }),
      ),
    );
  }
  server.kill();
  return [
    {
      name: `import of a 1 GiB qcow2 with ${DATA}`,
      ours: median(ours),
      beside: { name: 'qemu-img convert and sync', value: median(theirs) },
      unit: 'ms',
      aim: 'at most 1.1 x',
    },
  ];
}
