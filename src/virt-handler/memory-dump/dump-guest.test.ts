/** With a real QEMU, and what the Pod runs that writes the file. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { DUMP_SOCKET } from '../../api/launcher/memory-dump.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { systemClock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { temporaryFolder, waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { takeDump } from '../../virt-launcher/dump-memory.ts';
import { startGuest } from '../guest.testing.ts';
import { dumpGuest } from './dump-guest.ts';
import { dumpsFrom } from './open-dump.ts';

const fileName = 'db-dump-20261118-030405.memory.dump';
const MIB = 2 ** 20;
/** The first instructions of the boot sector, where the firmware puts it. */
const IN_MEMORY = Buffer.from([0xba, 0xf8, 0x03, 0xb0, 0x21, 0xee, 0xba, 0xfd, 0x03, 0xec]);

async function world(t: TestContext) {
  const [kubeletRoot, claim] = [await temporaryFolder(t), await temporaryFolder(t)];
  const podFolder = join(kubeletRoot, podPath('pod-1'), podVolumePath('empty-dir', PUBLIC_VOLUME.name));
  mkdirSync(podFolder, { recursive: true });
  const server = createServer({ allowHalfOpen: true }, (socket) => takeDump(socket, claim, () => {}));
  await new Promise<void>((resolve) => server.listen(join(podFolder, DUMP_SOCKET), resolve));
  t.after(() => server.close());
  const { folder, qmpPath } = await startGuest(t);
  const qmp = await connectQmp({ path: qmpPath });
  t.after(() => qmp.close());
  const dumps = dumpsFrom({ kubeletRoot, folder, clock: systemClock });
  const isRunning = async () => {
    const answer = await qmp.execute('query-status');
    return isObject(answer) && answer['status'] === 'running';
  };
  const dump = (bytes: number) => dumpGuest({ qmp, clock: systemClock, dumps }, { to: { podUid: 'pod-1', fileName, bytes } });
  return { qmp, dumps, claim, dump, isRunning, pipes: () => readdirSync(folder).filter((name) => name.endsWith('.fifo')) };
}

test('a dump is a core file with the memory of the guest, which runs on', async (t) => {
  const { dump, claim, isRunning, pipes } = await world(t);
  const { bytes } = await dump(100 * MIB);
  const core = readFileSync(join(claim, fileName));
  assert.equal(core.length, bytes);
  assert.deepEqual([core.toString('latin1', 1, 4), core.readUInt16LE(16)], ['ELF', 4]);
  assert.ok(core.length > 16 * MIB && core.includes(IN_MEMORY));
  await waitUntil(isRunning, 'the guest runs on');
  await waitUntil(async () => pipes().length === 0, 'the pipe is gone');
});

test('a PVC that refuses is heard before the guest is stopped', async (t) => {
  const { dump, claim, qmp, isRunning } = await world(t);
  await assert.rejects(dump(2 ** 50), /the PVC has \d+ MiB left/);
  assert.ok(await isRunning());
  const never = await qmp.execute('query-dump');
  assert.deepEqual([isObject(never) && never['status'], readdirSync(claim)], ['none', []]);
});

test('one that can take no more, and one that is ended, leave a guest that runs, and no file; the next one is whole', async (t) => {
  const { dump, dumps, claim, isRunning } = await world(t);
  await assert.rejects(dump(3 * MIB), /the dump is larger than 3 MiB/);
  await waitUntil(isRunning, 'the guest runs on');
  const ended = dump(100 * MIB);
  const rejected = assert.rejects(ended, /nobody wants it/);
  await waitUntil(async () => readdirSync(claim).length > 0, 'it has begun');
  dumps.end('nobody wants it');
  await rejected;
  await waitUntil(isRunning, 'the guest runs on');
  await waitUntil(async () => readdirSync(claim).length === 0, 'nothing is left');
  await dump(100 * MIB);
  assert.deepEqual(readdirSync(claim), [fileName]);
});
