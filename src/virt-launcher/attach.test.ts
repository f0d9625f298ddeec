/** A volume that comes while a guest runs, as its Pod is started: bin/virt-launcher, the real daemon, a real QEMU that connects. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Disk, Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { ATTACH_SOCKET } from '../api/launcher/attachment.ts';
import { QEMU_USER } from '../api/launcher/compute.ts';
import { claimMount } from '../api/launcher/mounts.ts';
import { LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';
import { connectQmp } from '../qemu/qmp/client.ts';
import { startQemu, waitUntil } from '../qemu/qmp/qemu.testing.ts';
import { makePod, type PodFolders } from './pod.testing.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/virt-launcher', import.meta.url));
const MIB = 2 ** 20;
let pod: PodFolders;
let running: ChildProcess | undefined;
beforeEach(() => {
  pod = makePod();
});
afterEach(async () => {
  const child = running;
  running = undefined;
  if (child && child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  pod.remove();
});

/** The folder of the claim, with what it holds already. */
function makeClaim(files: Readonly<Record<string, string>> = {}): string {
  const folder = sandboxPath(claimMount('data').mountPath, pod.env);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
  if (process.getuid?.() === 0) for (const name of ['', ...Object.keys(files)]) chownSync(join(folder, name), QEMU_USER, QEMU_USER);
  return folder;
}

function environment(volume: Partial<Volume['persistentVolumeClaim']> = {}): Record<string, string> {
  const disks: Disk[] = [{ name: 'data', disk: { bus: 'scsi' } }];
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data', ...volume } }];
  const vmi = { metadata: { name: 'testvm', namespace: 'default' }, spec: { domain: { devices: { disks } }, volumes } };
  return {
    ...pod.env,
    [LAUNCHER_VARIABLES.vmi]: JSON.stringify(vmi),
    [LAUNCHER_VARIABLES.newDiskBytes]: JSON.stringify({ data: 4 * MIB }),
  };
}

async function serve(env: Record<string, string>): Promise<void> {
  running = spawn(LAUNCHER, ['attach'], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  await waitUntil(() => existsSync(join(pod.publicFolder, ATTACH_SOCKET)), 'the disk is served', 60_000);
}

test('a new disk is made with its note, and served to one QEMU at a time', async (t) => {
  const folder = makeClaim();
  await serve(environment());
  assert.equal(readFileSync(join(folder, 'disk.img.format'), 'utf8'), 'raw\n');
  const open = (node: string) => ({
    driver: 'nbd',
    'node-name': node,
    server: { type: 'unix', path: join(pod.publicFolder, ATTACH_SOCKET) },
    export: 'disk',
    'open-timeout': 0,
  });
  const qmp = await connectQmp({ path: (await startQemu(t)).qmpPath });
  t.after(() => qmp.close());
  await qmp.execute('blockdev-add', open('first'));
  const nodes = (await qmp.execute('query-named-block-nodes', { flat: true })) as { image: { 'virtual-size': number } }[];
  assert.equal(nodes[0]?.image['virtual-size'], 4 * MIB);
  // Neither a second Pod of this kind nor a machine that starts with the disk gets it meanwhile.
  const drive = { driver: 'file', 'node-name': 'd', filename: join(folder, 'disk.img') };
  const others = [
    [
      'qemu-storage-daemon',
      '--blockdev',
      JSON.stringify({ driver: 'blkdebug', 'node-name': 'x', image: drive, 'unshare-child-perms': ['write'] }),
    ],
    [
      'qemu-system-x86_64',
      '-nodefaults',
      '-display',
      'none',
      '-S',
      '-blockdev',
      JSON.stringify(drive),
      '-device',
      'virtio-blk-pci,drive=d',
    ],
  ];
  for (const [program = '', ...args] of others) {
    const { status, stderr } = spawnSync(program, args, { encoding: 'utf8', timeout: 30_000 });
    assert.ok(status === 1 && /lock/.test(stderr), `${program}: ${stderr}`);
  }
});

test('what a guest wrote into a raw disk is no format', async (t) => {
  makeClaim({ 'disk.img': `QFI\xfb${'\0'.repeat(2 * MIB)}`, 'disk.img.format': 'raw\n' });
  await serve(environment({ readOnly: true }));
  const qmp = await connectQmp({ path: (await startQemu(t)).qmpPath });
  t.after(() => qmp.close());
  const server = { type: 'unix', path: join(pod.publicFolder, ATTACH_SOCKET) };
  await qmp.execute('blockdev-add', { driver: 'nbd', 'node-name': 'n', server, export: 'disk', 'read-only': true });
});

test('a disk that cannot be served is told in one line', () => {
  const { status, stderr } = spawnSync(LAUNCHER, ['attach'], { env: environment(), encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, /^error\[VOLUME_MISSING\]: .*\n$/);
});
