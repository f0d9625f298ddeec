/** Measuring a real QEMU, over the sessions that virt-handler has with it. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { silentLogger } from '../../base/log.ts';
import { startQemu, temporaryFolder } from '../../qemu/qmp/qemu.testing.ts';
import { vmi } from '../../testing/builders.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { publicFolder } from '../guest.testing.ts';
import { Domains, type Guest } from '../vmi/domains.ts';
import type { GuestFigures } from './guest-figures.ts';
import { GuestMeter } from './guest-meter.ts';
import { PodProcesses } from './pod-processes.ts';

const POD = '6f1cdb3e-5b0e-4b2e-9d3c-0d0c9f1e2a3b';

test('a guest is measured in steps, and for whoever asks; one that is gone is not shown', { timeout: 60_000 }, async (t) => {
  const { domains, clock, home, quit } = await followedGuest(t);
  const steps: (readonly [string, GuestFigures, GuestFigures | undefined])[] = [];
  const onStep = ({ key }: Guest, now: GuestFigures, before: GuestFigures | undefined) => steps.push([key, now, before]);
  const processes = new PodProcesses({ kubeletRoot: home, clock });
  const meter = new GuestMeter({ domains, processes, clock, log: silentLogger, onStep });
  const stop = new AbortController();
  const running = meter.run(stop.signal);
  await until(() => steps.length === 1, 'the first step');
  assert.deepEqual(steps[0]?.slice(0, 1), ['default/db']);
  const [measured] = await meter.figures();
  assert.equal(measured?.figures, steps[0]?.[1], 'what is a moment old is recent enough');
  assert.equal(measured?.figures.balloonBytes, 16 * 2 ** 20);
  assert.deepEqual(measured?.figures.memory, {}, 'this guest has no driver for its balloon');
  assert.deepEqual(
    measured?.figures.disks.map(({ disk, writes }) => [disk, writes]),
    [['root', 0]],
  );
  clock.advance(20_000);
  await until(() => steps.length === 2, 'the second step');
  assert.equal(steps[1]?.[2], steps[0]?.[1]);
  quit();
  await until(() => {
    clock.advance(1);
    return domains.domainOf('default/db')?.isGone === true;
  }, 'QEMU to be gone');
  assert.deepEqual(await meter.figures(), []);
  stop.abort();
  await running;
});

async function followedGuest(t: TestContext) {
  const home = await temporaryFolder(t);
  const folder = publicFolder(home, POD);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'root.img'), Buffer.alloc(1024 * 1024));
  const blockdev = JSON.stringify({ driver: 'raw', 'node-name': 'image0', file: { driver: 'file', filename: 'root.img' } });
  const devices = ['-device', 'virtio-blk-pci,id=disk0,drive=image0', '-device', 'virtio-balloon-pci,id=balloon0'];
  const { pid } = await startQemu(t, { machine: 'q35', isPaused: true, folder, args: ['-blockdev', blockdev, ...devices] });
  const clock = new FakeClock();
  const domains = new Domains({ kubeletRoot: home, clock, log: silentLogger, takesConnection: async () => undefined });
  t.after(() => domains.close());
  domains.act({ do: 'follow', podUid: POD, because: 'it is to be measured' }, vmi('Running'));
  await until(() => {
    clock.advance(1);
    return domains.domainOf('default/db')?.isConnected === true;
  }, 'the session with QEMU');
  return { domains, clock, home, quit: () => process.kill(pid, 'SIGTERM') };
}
