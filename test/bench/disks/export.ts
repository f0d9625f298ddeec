/** How fast a disk is taken out of the cluster by `virtctl vmexport download`, raw and compressed, beside `qemu-img convert` and gzip of the same file. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { EmbeddedCluster } from '../../e2e/harness.ts';
import { median } from '../figures.ts';
import { type DiskBenchOptions, type DiskRow, timed } from './row.ts';

const NAME = 'taken';
const MEBIBYTES = 256;

export async function measureExport({ folder, rounds }: DiskBenchOptions): Promise<DiskRow[]> {
  await using cluster = await EmbeddedCluster.start();
  const claim = {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: NAME },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1100Mi' } } },
  };
  await cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(claim) });
  const onHost = await cluster.folderOf(NAME);
  mkdirSync(onHost, { recursive: true });
  const disk = join(onHost, 'disk.img');
  execFileSync('qemu-img', ['create', '-q', '-f', 'raw', disk, '1G']);
  execFileSync('dd', ['if=/dev/urandom', `of=${disk}`, 'bs=1M', `count=${MEBIBYTES}`, 'conv=notrunc,fsync', 'status=none']);
  await cluster.must('virtctl', ['vmexport', 'create', NAME, '--pvc', NAME]);
  await cluster.until(`vmexport/${NAME}`, '.status.phase', 'Ready');
  const out = join(folder, 'out');
  const take = (format: string) => cluster.must('virtctl', ['vmexport', 'download', NAME, '--format', format, '--output', out]);
  const ways = {
    raw: () => take('raw'),
    converted: () => execFileSync('qemu-img', ['convert', '-O', 'raw', disk, out]),
    gzip: () => take('gzip'),
    compressed: () => execFileSync('sh', ['-c', 'gzip -1 < "$1" > "$2"', 'sh', disk, out]),
  };
  const took = { raw: [], converted: [], gzip: [], compressed: [] } as Record<keyof typeof ways, number[]>;
  for (let round = 0; round < rounds; round++)
    for (const [way, work] of Object.entries(ways) as [keyof typeof ways, () => unknown][]) {
      rmSync(out, { force: true });
      took[way].push(await timed(work));
    }
  const speed = (way: keyof typeof ways) => Math.round(MEBIBYTES / (median(took[way]) / 1000));
  return [
    {
      name: `export of 1 GiB with ${MEBIBYTES} MiB, raw, by what is in it`,
      ours: speed('raw'),
      beside: { name: 'qemu-img convert', value: speed('converted') },
      unit: 'MiB/s',
    },
    { name: 'the same with gzip', ours: speed('gzip'), beside: { name: 'gzip -1', value: speed('compressed') }, unit: 'MiB/s' },
  ];
}
