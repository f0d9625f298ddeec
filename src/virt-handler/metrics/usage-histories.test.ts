import assert from 'node:assert/strict';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createLogger, silentLogger } from '../../base/log.ts';
import { temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { vmi } from '../../testing/builders.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { UsageHistories } from './usage-histories.ts';

const GUEST = { vmi: vmi('Running') };

function figures(clock: FakeClock, cpuSeconds: number) {
  return {
    atMs: clock.now(),
    process: { userSeconds: cpuSeconds, systemSeconds: 0, residentBytes: 4096 },
    memory: {},
    disks: [],
    networks: [],
    vcpus: [],
    fileSystems: [],
  };
}

test('a restart of virt-handler loses nothing; a successor of the name has nothing of it', async (t) => {
  const [folder, clock] = [join(await temporaryFolder(t), 'usage'), new FakeClock(Date.now())];
  const first = new UsageHistories({ folder, clock, log: silentLogger });
  const begun = figures(clock, 0);
  await first.add(GUEST, begun, undefined);
  clock.advance(20_000);
  await first.add(GUEST, figures(clock, 10), begun);
  const history = await first.of(GUEST, 3600);
  assert.deepEqual(
    history.points.map(({ cpuCores }) => cpuCores),
    [undefined, 0.5],
  );

  const second = new UsageHistories({ folder, clock, log: silentLogger });
  const again = { vmi: vmi('Running') };
  assert.deepEqual(await second.of(again, 3600), history);
  clock.advance(20_000);
  await second.add(again, figures(clock, 11), figures(clock, 11));
  assert.equal((await second.of(again, 3600)).points.length, 3);
  const successor = { vmi: vmi('Running', {}, { uid: 'other', ownerReferences: [] }) };
  assert.deepEqual((await second.of(successor, 3600)).points, []);

  const [file = ''] = await readdir(folder);
  const { size, mode } = await stat(join(folder, file));
  assert.deepEqual([size <= 2 ** 20, (mode & 0o777).toString(8)], [true, '600']);
});

test('a machine that was not measured for longer than is shown is forgotten, and a file of another size is begun anew', async (t) => {
  const [folder, clock] = [await temporaryFolder(t), new FakeClock(Date.now())];
  await writeFile(join(folder, 'old.ring'), 'x');
  await utimes(join(folder, 'old.ring'), 0, 0);
  await writeFile(join(folder, 'vm-1.ring'), 'torn');
  const histories = new UsageHistories({ folder, clock, log: silentLogger });
  await histories.add(GUEST, figures(clock, 0), undefined);
  assert.deepEqual(await readdir(folder), ['vm-1.ring']);
  assert.equal((await new UsageHistories({ folder, clock, log: silentLogger }).of({ vmi: vmi('Running') }, 60)).points.length, 1);
});

test('where nothing can be written, what is in memory is shown, and one line says so', async (t) => {
  const [home, clock, lines] = [await temporaryFolder(t), new FakeClock(), [] as string[]];
  await writeFile(join(home, 'file'), '');
  const log = createLogger({ write: (line) => lines.push(line), level: () => 'info', now: clock.now.bind(clock), fields: {} });
  const histories = new UsageHistories({ folder: join(home, 'file'), clock, log });
  for (const cpu of [0, 1]) {
    await histories.add(GUEST, figures(clock, cpu), undefined);
    clock.advance(20_000);
  }
  assert.deepEqual([(await histories.of(GUEST, 3600)).points.length, lines.length], [2, 1]);
});
