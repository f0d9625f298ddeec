/** With a real QEMU, and what the Pod runs that writes the files. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { podPath, podVolumePath } from '../../api/core/pod-folder-layout.ts';
import { BACKUP_SOCKET } from '../../api/launcher/backup.ts';
import { PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { systemClock } from '../../base/clock.ts';
import { isObject } from '../../base/json.ts';
import { connectQmp } from '../../qemu/qmp/client.ts';
import { temporaryFolder, waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { takeBackup } from '../../virt-launcher/write-backup.ts';
import { startGuest } from '../guest.testing.ts';
import type { BackupOrder, Quiesce } from '../vmi/domain-command.ts';
import { backupGuest } from './backup-guest.ts';
import { clearBackup } from './clear-backup.ts';
import { askNodes } from './guest-nodes.ts';
import { backupsFrom } from './open-backup.ts';

const MIB = 2 ** 20;
const DISKS = ['root', 'data'].map((volume, index) => ({ volume, device: `disk${index}`, node: `image${index}` }));

type Options = {
  /** Done when everything is prepared and nothing is copied yet. */
  readonly beforeCopy?: () => Promise<void>;
  readonly quiesce?: Quiesce;
  /** Whoever makes it says nothing more to QEMU from then on. */
  readonly isKilled?: boolean;
};

async function world(t: TestContext, claimMib?: number) {
  const [kubeletRoot, home] = [await temporaryFolder(t), await temporaryFolder(t)];
  const claim = claimMib === undefined ? await temporaryFolder(t) : smallDisk(t, claimMib);
  const podFolder = join(kubeletRoot, podPath('pod-1'), podVolumePath('empty-dir', PUBLIC_VOLUME.name));
  mkdirSync(podFolder, { recursive: true });
  const connections: Socket[] = [];
  const place = { root: claim, folder: podFolder, program: 'qemu-storage-daemon', report: () => {} };
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    connections.push(socket);
    void takeBackup(socket, place);
  });
  await new Promise<void>((resolve) => server.listen(join(podFolder, BACKUP_SOCKET), resolve));
  t.after(() => server.close());
  const args = DISKS.flatMap(({ volume, device, node }) => {
    writeFileSync(join(home, `${volume}.img`), Buffer.alloc(4 * MIB));
    const file = { driver: 'file', filename: `${volume}.img` };
    return [
      ...['-blockdev', JSON.stringify({ driver: 'raw', 'node-name': node, file })],
      ...['-device', `virtio-blk-pci,drive=${node},id=${device}`],
    ];
  });
  const { folder, qmpPath } = await startGuest(t, { folder: home, args });
  const qmp = await connectQmp({ path: qmpPath });
  t.after(() => qmp.close());
  /** As the guest does: this byte, from here, so many times; it is on the disk then. */
  const write = async (volume: string, byte: number, [fromKib, kib]: readonly [number, number]) => {
    const device = `/machine/peripheral/${DISKS.find((disk) => disk.volume === volume)?.device}/virtio-backend`;
    const line = `qemu-io -d ${device} "write -P ${byte} ${fromKib}k ${kib}k"`;
    assert.equal(await qmp.execute('human-monitor-command', { 'command-line': line }), '');
    const written = readFileSync(join(home, `${volume}.img`)).subarray(fromKib * 1024, (fromKib + kib) * 1024);
    assert.ok(
      written.every((each) => each === byte),
      line,
    );
  };
  const backups = backupsFrom({ kubeletRoot, folder, clock: systemClock });
  const made = {
    qmp,
    claim,
    write,
    connections,
    /** What the disks are now. */
    keep: (as: string) => {
      for (const { volume } of DISKS) copyFileSync(join(home, `${volume}.img`), join(home, `${volume}-${as}`));
    },
    /** Put together from the files as people do, the disks are what was kept. */
    assertRestores: (as: string) => {
      for (const { volume } of DISKS) {
        const out = join(home, 'restored.img');
        execFileSync('qemu-img', ['convert', '-O', 'raw', join(claim, 'db', as, `${volume}.qcow2`), out]);
        const [restored, kept] = [readFileSync(out), readFileSync(join(home, `${volume}-${as}`))];
        const at = restored.findIndex((byte, index) => byte !== kept[index]);
        const where = at < 0 ? '' : `, from ${at / 1024}k on: ${restored[at]} in the place of ${kept[at]}`;
        assert.deepEqual([restored.length, at], [kept.length, -1], `${volume} of ${as}${where}`);
      }
    },
    checkpoints: async () =>
      [...(await askNodes(qmp)).entries()].flatMap(([node, { checkpoints }]) => checkpoints.map((each) => `${node} ${each}`)),
    isRunning: async () => {
      const answer = await qmp.execute('query-status');
      return isObject(answer) && answer['status'] === 'running';
    },
    nodes: async () => [...(await askNodes(qmp)).keys()].filter((name) => name.startsWith('bk-')),
    backups,
    backup: (as: string, { base, ...order }: Partial<BackupOrder> = {}, { beforeCopy, quiesce, isKilled = false }: Options = {}) => {
      let isDead = false;
      const execute: typeof qmp.execute = async (name, parameters) => {
        if (isDead) throw new Error('killed');
        const isCopy = name === 'transaction' && JSON.stringify(parameters).includes('blockdev-backup');
        if (isCopy) await beforeCopy?.();
        if (isCopy && isKilled) isDead = true;
        return qmp.execute(name, parameters);
      };
      const full: BackupOrder = {
        ...{ podUid: 'pod-1', folder: `db/${as}`, disks: DISKS, checkpoint: as, base, kept: base === undefined ? [] : [base] },
        ...{ isQuiesced: quiesce !== undefined, runs: true },
        ...order,
      };
      return backupGuest({ qmp: { execute }, clock: systemClock, backups, ...(quiesce && { quiesce }) }, { order: full });
    },
  };
  return made;
}

function smallDisk(t: TestContext, mebibytes: number): string {
  const path = mkdtempSync(join(tmpdir(), 'small-disk-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path]);
  t.after(() => {
    execFileSync('umount', ['-l', path]);
    rmSync(path, { recursive: true });
  });
  return path;
}

test('a full backup and incremental ones put together are the disks of each moment, whatever the guest writes meanwhile', async (t) => {
  const { write, keep, backup, assertRestores, claim, isRunning, nodes, checkpoints } = await world(t);
  await write('root', 0x11, [0, 1024]);
  await write('data', 0x21, [1024, 1024]);
  keep('one');
  const overwrite = async () => {
    assert.ok(await isRunning());
    await write('root', 0xee, [512, 64]);
    await write('data', 0xee, [3072, 128]);
  };
  const first = await backup('one', {}, { beforeCopy: overwrite });
  assert.deepEqual([first.type, first.quiesceStatus], ['Full', 'Skipped']);
  await write('root', 0x13, [2048, 64]);
  keep('two');
  const second = await backup('two', { base: 'one' }, { beforeCopy: overwrite });
  assert.ok(second.type === 'Incremental' && second.bytes < first.bytes);
  assert.deepEqual((await checkpoints()).toSorted(), ['image0 one', 'image0 two', 'image1 one', 'image1 two']);
  await write('data', 0x25, [0, 4096]);
  keep('three');
  assert.equal((await backup('three', { base: 'two' })).type, 'Incremental');
  for (const each of ['one', 'two', 'three']) assertRestores(each);
  assert.deepEqual(readdirSync(join(claim, 'db', 'two')).toSorted(), ['backup.json', 'data.qcow2', 'root.qcow2']);
  assert.deepEqual([readdirSync(claim), await nodes(), await isRunning()], [['db'], [], true]);
  assert.deepEqual((await checkpoints()).toSorted(), ['image0 three', 'image0 two', 'image1 three', 'image1 two']);
});

test('without the checkpoint, or with it on one disk alone, a backup is a full one', async (t) => {
  const { write, keep, backup, assertRestores, qmp } = await world(t);
  await write('root', 0x11, [0, 1024]);
  await backup('one');
  await write('data', 0x12, [0, 1024]);
  await qmp.execute('block-dirty-bitmap-remove', { node: 'image1', name: 'checkpoint:one' });
  keep('two');
  assert.equal((await backup('two', { base: 'one' })).type, 'Full');
  assertRestores('two');
});

test('a Pod that goes harms no write of the guest, leaves no file, and the next backup is right', async (t) => {
  const { write, keep, backup, connections, assertRestores, claim, isRunning, nodes, checkpoints } = await world(t);
  await write('root', 0x11, [0, 1024]);
  keep('one');
  await backup('one');
  await write('root', 0x12, [1024, 1024]);
  const goes = async () => {
    connections.at(-1)?.destroy();
    await waitUntil(() => readdirSync(claim).length === 1, 'the Pod has given up');
    await write('root', 0x13, [1024, 1024]);
  };
  let gone = Promise.resolve();
  const beforeCopy = () => {
    gone = goes();
    return gone;
  };
  await assert.rejects(backup('lost', { base: 'one' }, { beforeCopy }));
  await gone; // the backup has failed as soon as its Pod was gone
  assert.deepEqual([readdirSync(join(claim, 'db')), await nodes(), await isRunning()], [['one'], [], true]);
  assert.deepEqual((await checkpoints()).toSorted(), ['image0 one', 'image1 one']);
  keep('two');
  assert.equal((await backup('two', { base: 'one' })).type, 'Incremental');
  for (const each of ['one', 'two']) assertRestores(each);
});

const asRoot = { skip: process.getuid?.() === 0 ? false : 'only root can mount a small disk' };
test('a PVC that gets full harms no write of the guest, leaves no file, and the next backup is right', asRoot, async (t) => {
  const { write, keep, backup, assertRestores, claim, isRunning, nodes } = await world(t, 32);
  await write('root', 0x11, [0, 1024]);
  keep('one');
  await backup('one');
  await write('data', 0x12, [0, 4096]);
  const filler = join(claim, 'filler');
  const fill = async () => {
    assert.throws(() => writeFileSync(filler, Buffer.alloc(40 * MIB, 1)), /ENOSPC/);
    await write('data', 0x13, [0, 2048]);
  };
  await assert.rejects(backup('lost', { base: 'one' }, { beforeCopy: fill }), /No space left on device|the PVC is full/);
  await waitUntil(() => readdirSync(claim).length === 2, 'the Pod has given up');
  assert.deepEqual([readdirSync(join(claim, 'db')), await nodes(), await isRunning()], [['one'], [], true]);
  rmSync(filler);
  await write('root', 0x14, [2048, 64]);
  keep('two');
  assert.equal((await backup('two', { base: 'one' })).type, 'Incremental');
  for (const each of ['one', 'two']) assertRestores(each);
});

test('one that is ended, or refused, leaves the guest as it was', async (t) => {
  const { backup, backups, isRunning, nodes, checkpoints, claim } = await world(t);
  await assert.rejects(backup('one', {}, { beforeCopy: async () => backups.end('pod-1', 'nobody wants it') }), /nobody wants it/);
  await waitUntil(() => readdirSync(claim).length === 0, 'nothing is left');
  backups.end('pod-1', 'nobody wanted it'); // before it was open
  await assert.rejects(backup('one'), /nobody wanted it/);
  backups.end('pod-0', 'that of another');
  await backup('one');
  await assert.rejects(backup('one', { checkpoint: 'two', kept: ['one'] }), /the PVC has db\/one already/);
  const gone = { volume: 'gone', device: 'disk7', node: 'image7' };
  await assert.rejects(backup('two', { disks: [gone] }), /QEMU does not have the disk of volume gone/);
  assert.deepEqual([await nodes(), await isRunning(), await checkpoints()], [[], true, []]);
});

test('what a killed virt-handler has left is taken out, and the guest runs on', async (t) => {
  const { qmp, backup, write, isRunning, nodes, checkpoints, keep, assertRestores } = await world(t);
  const stop = async () => void (await qmp.execute('stop')); // as in the moment in which it stands still
  await assert.rejects(backup('one', {}, { beforeCopy: stop, isKilled: true }), /killed/);
  assert.deepEqual([(await nodes()).length > 0, await isRunning()], [true, false]);
  await clearBackup({ qmp, clock: systemClock }, { kept: [], runs: true });
  assert.deepEqual([await nodes(), await isRunning(), await checkpoints()], [[], true, []]);
  await write('root', 0x11, [0, 1024]);
  keep('two');
  await backup('two');
  assertRestores('two');
});

test('the guest is frozen for the moment, and thawed before its disks are copied', async (t) => {
  const { backup } = await world(t);
  const done: string[] = [];
  const quiesce = { freeze: async () => void done.push('freeze'), thaw: async () => void done.push('thaw') };
  const { quiesceStatus } = await backup('one', {}, { quiesce, beforeCopy: async () => void done.push('copy') });
  assert.deepEqual([quiesceStatus, done], ['Succeeded', ['freeze', 'thaw', 'copy']]);
  const refusing = { freeze: () => Promise.reject(new Error('no')), thaw: quiesce.thaw };
  assert.equal((await backup('two', {}, { quiesce: refusing })).quiesceStatus, 'Failed');
});
