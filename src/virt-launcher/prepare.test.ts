/** The launcher as it is started in a Pod: bin/virt-launcher, real QEMU, a disk whose boot sector speaks. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, test } from 'node:test';
import { setTimeout as nextLook } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ANNOTATION_FAIL_FAST } from '../api/kubevirt/names.ts';
import type { Disk, VmiSpec, Volume } from '../api/kubevirt/vmi-spec-schema.ts';
import { QEMU_USER } from '../api/launcher/compute.ts';
import { QMP_SOCKET, SERIAL_LOG } from '../api/launcher/files.ts';
import { claimDevice, claimMount, contentMount, credentialMount, networkContentMount } from '../api/launcher/mounts.ts';
import { HIDDEN_FOLDERS_VARIABLE, LAUNCHER_VARIABLES, RUN_AS_VARIABLES } from '../api/launcher/variables.ts';
import { whyNotIsolated } from '../base/node/isolated-command.ts';
import { SANDBOX_VARIABLE, sandboxPath } from '../base/node/sandbox-path.ts';
import { findVirtiofsd } from '../qemu/find-virtiofsd.ts';
import { bootSector, makePod, type PodFolders, putFile, qcow2Header } from './pod.testing.ts';

const LAUNCHER = fileURLToPath(new URL('../../bin/virt-launcher', import.meta.url));
const DEADLINE_MS = 60_000;
const isRoot = process.getuid?.() === 0;

let pod: PodFolders;
let running: ChildProcess | undefined;
beforeEach(() => {
  pod = makePod();
});
afterEach(() => {
  running?.kill('SIGKILL');
  running = undefined;
  pod.remove();
});

const rootDisk: Disk = { name: 'root', disk: { bus: 'virtio' } };
const rootVolume: Volume = { name: 'root', containerDisk: { image: 'x' } };

function vmi(devices: VmiSpec['domain']['devices'] = { disks: [rootDisk] }, volumes: Volume[] = [rootVolume], spec: Partial<VmiSpec> = {}) {
  const metadata = { name: 'testvm', namespace: 'default', uid: '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001' };
  const domain = { resources: { requests: { memory: '64M' } }, devices };
  return JSON.stringify({ apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata, spec: { domain, volumes, ...spec } });
}

type Started = { readonly child: ChildProcess; readonly ask: (command: string, args?: object) => Promise<unknown> };

/** Starts the launcher and speaks QMP with what it becomes. */
async function start(text: string, signal: AbortSignal): Promise<Started> {
  const child = spawn(LAUNCHER, ['prepare'], {
    env: { ...pod.env, [LAUNCHER_VARIABLES.vmi]: text },
    stdio: ['ignore', 'pipe', 'pipe'],
    signal,
  });
  running = child;
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (data) => (output += data));
  const ended = once(child, 'exit').then(() => assert.fail(`ended early:\n${output}`));
  const socket = await Promise.race([connectTo(QMP_SOCKET, signal), ended]);
  ended.catch(() => {}); // from here on it is meant to end
  const lines = createInterface(socket)[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}');
  assert.ok((await next()).QMP, 'QMP greets');
  const ask = async (execute: string, args?: object) => {
    socket.write(`${JSON.stringify({ execute, arguments: args })}\n`);
    for (;;) {
      const answer = await next();
      if (!answer.event) return answer.return;
    }
  };
  await ask('qmp_capabilities');
  return { child, ask };
}

/** Through an open folder, as virt-handler does: the path of a Pod's folder is too long for a unix socket. */
function connectTo(name: string, signal: AbortSignal): Promise<Socket> {
  return eventually(signal, async () => {
    const folder = openSync(pod.publicFolder, 'r');
    try {
      const socket = connect(`/proc/self/fd/${folder}/${name}`);
      await once(socket, 'connect', { signal });
      return socket;
    } catch {
      return undefined;
    } finally {
      closeSync(folder);
    }
  });
}

function serialSays(text: string, signal: AbortSignal): Promise<boolean> {
  const log = join(pod.publicFolder, SERIAL_LOG);
  return eventually(signal, async () => (existsSync(log) && readFileSync(log, 'latin1').includes(text)) || undefined);
}

async function eventually<T>(signal: AbortSignal, look: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await nextLook(20, undefined, { signal });
  }
}

async function quit({ child, ask }: Started): Promise<unknown> {
  const exit = once(child, 'exit');
  await ask('quit');
  return (await exit)[0];
}

test('a raw disk boots, its words arrive in the log of the serial console, and QMP answers', { timeout: DEADLINE_MS }, async ({
  signal,
}) => {
  putFile(pod, 'disk/disk.img', bootSector('hello from the boot sector'));
  const started = await start(vmi(), signal);
  await serialSays('hello from the boot sector', signal);
  assert.deepEqual(await started.ask('query-status'), { running: true, singlestep: false, status: 'running' });
  assert.equal(await quit(started), 0);
});

test('a qcow2 disk boots through its overlay, on SATA, beside a cloud-init disk', { timeout: DEADLINE_MS }, async ({ signal }) => {
  const raw = join(pod.image, 'disk/raw');
  writeFileSync(raw, bootSector('hello from qcow2'));
  assert.equal(spawnSync('qemu-img', ['convert', '-f', 'raw', '-O', 'qcow2', raw, join(pod.image, 'disk/disk.qcow2')]).status, 0);
  const volumes = [{ name: 'root', containerDisk: { image: 'x', path: '/disk/disk.qcow2' } }, seedVolume];
  const started = await start(vmi({ disks: [{ name: 'root' }, { name: 'seed' }] }, volumes), signal);
  await serialSays('hello from qcow2', signal);
  assert.equal(await quit(started), 0);
});

test('a QEMU that was taken over and wants to start a program is ended by the kernel', { timeout: DEADLINE_MS }, async ({ signal }) => {
  const free = join(pod.publicFolder, 'free');
  const held = join(pod.publicFolder, 'held');
  const wish = (file: string) => ({ uri: `exec:cat > ${file}` }); // its own way to start one; nothing of ours asks for it
  const commands = [{ execute: 'qmp_capabilities' }, { execute: 'migrate', arguments: wish(free) }, { execute: 'quit' }];
  spawnSync('qemu-system-x86_64', ['-machine', 'none', '-display', 'none', '-nodefaults', '-qmp', 'stdio'], {
    input: commands.map((each) => JSON.stringify(each)).join('\n'),
  });
  await eventually(signal, async () => existsSync(free) || undefined); // without a sandbox it does
  putFile(pod, 'disk/disk.img', bootSector('hello'));
  const { child, ask } = await start(vmi(), signal);
  const ended = once(child, 'exit');
  void ask('migrate', wish(held)).catch(() => {}); // it has no time to answer
  const [code, by] = await ended;
  assert.ok(by === 'SIGSYS' || code === 128 + 31, `${code} ${by}`);
  assert.equal(existsSync(held), false);
});

test('QEMU takes every kind of disk and card at once', { timeout: DEADLINE_MS }, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('unused'));
  const empty = { emptyDisk: { capacity: '1Gi' } };
  const kinds: Omit<Disk, 'name'>[] = [
    ...(['virtio', 'scsi', 'sata', 'usb'] as const).flatMap((bus) => [
      { disk: { bus }, serial: 'x'.repeat(30), cache: 'writethrough' as const },
      { disk: { bus }, cache: 'none' as const },
      ...(bus === 'virtio' ? [] : [{ cdrom: { bus }, serial: 'CD-1' }]),
      ...(bus === 'sata' ? [] : [{ disk: { bus, readonly: true } }]),
    ]),
    ...Array.from({ length: 8 }, () => ({ disk: { bus: 'sata' as const } })),
  ];
  const disks = kinds.map((kind, index) => ({ name: `d${index}`, ...kind }));
  const volumes = disks.map(({ name }) => ({ name, ...empty }));
  const devices = { disks: [rootDisk, ...disks], interfaces: [{ name: 'default', model: 'e1000e' as const, masquerade: {} }] };
  const spec = { networks: [{ name: 'default', pod: { vmNetworkCIDR: '10.9.8.0/28' } }], startStrategy: 'Paused' as const };
  const started = await start(vmi(devices, [rootVolume, ...volumes], spec), signal);
  assert.deepEqual(await started.ask('query-status'), { running: false, singlestep: false, status: 'prelaunch' });
  assert.equal(await quit(started), 0);
});

test('QEMU runs as user 107 without groups of root, and without the instance in its environment', {
  timeout: DEADLINE_MS,
  skip: !isRoot && 'only root can become another user',
}, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('x'));
  pod.env[RUN_AS_VARIABLES.user] = '107';
  pod.env[RUN_AS_VARIABLES.group] = '107';
  const started = await start(vmi(), signal);
  const status = readFileSync(`/proc/${started.child.pid}/status`, 'utf8');
  assert.match(status, /^Uid:\t107\t107\t107\t107$/m);
  assert.match(status, /^Gid:\t107\t107\t107\t107$/m);
  assert.match(status, /^Groups:\t107 *$/m);
  assert.match(status, /^CapEff:\t0+$/m);
  assert.match(status, /^NoNewPrivs:\t1$/m);
  assert.match(status, /^Seccomp:\t2$/m);
  assert.doesNotMatch(readFileSync(`/proc/${started.child.pid}/environ`, 'utf8'), /KUBEVIRT_VMI|NODE_/);
  assert.equal(await quit(started), 0);
});

test('where QEMU can have mounts and processes of its own it sees neither those of others nor the folders of others', {
  timeout: DEADLINE_MS,
  skip: await whyNotIsolated(),
}, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('x'));
  const base = join(pod.publicFolder, '../..');
  pod.env[HIDDEN_FOLDERS_VARIABLE] = JSON.stringify([base, join(base, 'none')]);
  const started = await start(vmi(), signal);
  const [first = 0] = childrenOf(started.child.pid);
  const [qemu = 0] = childrenOf(first);
  const status = readFileSync(`/proc/${qemu}/status`, 'utf8');
  assert.match(status, new RegExp(`^Uid:\t${isRoot ? 107 : process.getuid?.()}\t`, 'm'));
  assert.match(status, /^NSpid:\t\d+(\t\d+)*\t\d$/m);
  for (const set of ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb']) assert.match(status, new RegExp(`^Cap${set}:\t0+$`, 'm'));
  assert.deepEqual(readdirSync(`/proc/${qemu}/root${base}`), []);
  assert.equal(readlinkSync(`/proc/${qemu}/cwd`), pod.publicFolder);
  assert.doesNotMatch(readFileSync(`/proc/${qemu}/environ`, 'utf8'), /KUBEVIRT_VMI|NODE_/);
  assert.equal(await quit(started), 0);
});

test('a folder is shared by a program that sees nothing else, writes only where it may, and ends with QEMU', {
  timeout: DEADLINE_MS,
  skip: (await whyNotIsolated()) ?? (findVirtiofsd() ? false : 'virtiofsd is not installed'),
}, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('x'));
  const folders = ['open', 'closed'].map((name) => {
    const folder = sandboxPath(claimMount(name).mountPath, pod.env);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), 'x');
    return { name, persistentVolumeClaim: { claimName: name, readOnly: name === 'closed' } };
  });
  const filesystems = folders.map(({ name }) => ({ name, virtiofs: {} }));
  const started = await start(vmi({ disks: [rootDisk], filesystems }, [rootVolume, ...folders]), signal);
  const servers = childrenOf(started.child.pid).flatMap((pid) => [pid, ...childrenOf(pid)]);
  // Both of a folder: the one that serves, and the one that waits for it.
  const seen = new Map<string, string | undefined>();
  for (const pid of servers) {
    const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '));
    // The folder is its root, and there is nothing else but its own processes.
    if (mounts.length <= 2) seen.set(readdirSync(`/proc/${pid}/root`).join(), mounts.find((words) => words[4] === '/')?.[5]?.split(',')[0]);
  }
  assert.deepEqual(
    [...seen],
    [
      ['open', 'rw'],
      ['closed', 'ro'],
    ],
  );
  assert.equal(await quit(started), 0);
  await eventually(signal, async () => servers.every((pid) => !existsSync(`/proc/${pid}`)) || undefined);
});

function childrenOf(pid: number | undefined): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}

test('only the user of QEMU reaches its sockets, and they are no ports', { timeout: DEADLINE_MS }, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('x'));
  const started = await start(vmi(), signal);
  const sockets = readdirSync(pod.publicFolder).filter((name) => statSync(join(pod.publicFolder, name)).isSocket());
  assert.ok(sockets.length >= 3, sockets.join());
  for (const name of sockets) assert.equal(statSync(join(pod.publicFolder, name)).mode & 0o077, 0, name);
  assert.deepEqual(listeningPorts(started.child.pid), []);
  assert.equal(await quit(started), 0);
});

/** The TCP sockets of a process that listen. */
function listeningPorts(pid: number | undefined): string[] {
  const folder = `/proc/${pid}/fd`;
  const own = new Set(readdirSync(folder).map((fd) => /^socket:\[(\d+)\]$/.exec(readlinkSync(join(folder, fd)))?.[1]));
  const rows = ['tcp', 'tcp6'].flatMap((table) => readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1));
  return rows.filter((row) => row.trim().split(/\s+/)[3] === '0A' && own.has(row.trim().split(/\s+/)[9]));
}

const seedVolume: Volume = { name: 'seed', cloudInitNoCloud: { userData: '#!/bin/sh' } };
const missing: Volume = { name: 'root', containerDisk: { image: 'x', path: 'disk/none' } };
const REFUSED: [name: string, text: string | undefined, disk: Buffer, code: string][] = [
  ['no instance', undefined, bootSector('x'), 'VMI_MISSING'],
  ['an instance that is not JSON', '{', bootSector('x'), 'VMI_INVALID'],
  ['an instance without a domain', '{"metadata":{},"spec":{}}', bootSector('x'), 'VMI_INVALID'],
  ['an image that leads elsewhere', vmi(), qcow2Header({ backingOffset: 200n }), 'IMAGE_HAS_BACKING_FILE'],
  [
    'a file that is not in the image',
    vmi({ disks: [{ name: 'seed' }, rootDisk] }, [seedVolume, missing]),
    bootSector('x'),
    'IMAGE_FILE_MISSING',
  ],
  [
    'a volume name that is a path',
    vmi({ disks: [{ name: '../x' }] }, [{ ...rootVolume, name: '../x' }]),
    bootSector('x'),
    'VOLUME_NAME_INVALID',
  ],
  ['a disk without a volume', vmi({ disks: [{ name: 'none' }] }), bootSector('x'), 'DISK_WITHOUT_VOLUME'],
  ['no memory', vmi(undefined, undefined, { domain: { devices: {} } }), bootSector('x'), 'MEMORY_MISSING'],
];
for (const [name, text, disk, code] of REFUSED) {
  test(`${name} ends in one line that says ${code}, and nothing half-made stays`, () => {
    putFile(pod, 'disk/disk.img', disk);
    const env = { ...pod.env, ...(text !== undefined && { [LAUNCHER_VARIABLES.vmi]: text }) };
    const { status, stderr } = spawnSync(LAUNCHER, ['prepare'], { env, encoding: 'utf8', timeout: DEADLINE_MS });
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`^error\\[${code}\\]: [^\n]+\n$`));
    assert.deepEqual([...readdirSync(pod.privateFolder), ...readdirSync(pod.publicFolder)], []);
  });
}

test('a launcher that is asked to fail does so where the installation allows it, and nowhere else', () => {
  const asked = JSON.parse(vmi({ disks: [{ name: 'none' }] }));
  const text = JSON.stringify({ ...asked, metadata: { ...asked.metadata, annotations: { [ANNOTATION_FAIL_FAST]: '' } } });
  const said = (settings: object) => {
    const env = { ...pod.env, [LAUNCHER_VARIABLES.vmi]: text, [LAUNCHER_VARIABLES.settings]: JSON.stringify(settings) };
    return spawnSync(LAUNCHER, ['prepare'], { env, encoding: 'utf8', timeout: DEADLINE_MS }).stderr;
  };
  putFile(pod, 'disk/disk.img', bootSector('x'));
  assert.match(said({ mayFailFast: true }), /^error\[FAIL_FAST\]/);
  assert.match(said({}), /^error\[DISK_WITHOUT_VOLUME\]/);
});

test('a trap in the volumes of the Pod does not make root touch other files', {
  timeout: DEADLINE_MS,
  skip: !isRoot && 'only root can be trapped',
}, async ({ signal }) => {
  putFile(pod, 'disk/disk.img', bootSector('x'));
  const victim = join(pod.image, 'victim');
  mkdirSync(victim);
  writeFileSync(join(victim, 'kept'), 'kept', { mode: 0o600 });
  symlinkSync(victim, join(pod.privateFolder, 'disks'));
  const started = await start(vmi(), signal);
  assert.deepEqual(readdirSync(victim), ['kept']);
  assert.equal(statSync(join(victim, 'kept')).uid, 0);
  assert.equal(statSync(join(pod.image, 'disk/disk.img')).uid, 0, 'the image still belongs to the image store');
  assert.equal(await quit(started), 0);
});

test('a volume that QEMU may not write to is named', { skip: !isRoot && 'the owner of a folder can always write to it' }, () => {
  chownSync(pod.privateFolder, 0, 0);
  const { status, stderr } = spawnSync(LAUNCHER, ['prepare'], {
    env: { ...pod.env, [LAUNCHER_VARIABLES.vmi]: vmi() },
    encoding: 'utf8',
    timeout: DEADLINE_MS,
  });
  assert.equal(status, 1);
  assert.match(stderr, /^error\[FILE_INACCESSIBLE\]: user 107 cannot write to the volume at \/var\/run\/kubevirt-private/);
});

test('cloud-init data comes from a Secret, read with the rights of the Pod', () => {
  const folder = sandboxPath(contentMount('seed').mountPath, pod.env);
  mkdirSync(folder, { recursive: true });
  const closed = join(pod.image, 'closed');
  writeFileSync(closed, 'root only', { mode: 0o000 });
  symlinkSync(closed, join(folder, 'userdata'));
  const text = vmi({ disks: [{ name: 'seed' }] }, [{ name: 'seed', cloudInitNoCloud: { secretRef: { name: 's' } } }]);
  const { stderr } = spawnSync(LAUNCHER, ['prepare'], {
    env: { ...pod.env, [LAUNCHER_VARIABLES.vmi]: text },
    encoding: 'utf8',
    timeout: DEADLINE_MS,
  });
  assert.match(stderr, /^error\[CLOUD_INIT_SECRET_INVALID\]: key userdata of Secret s cannot be read/);
});

test('the disk of a PVC boots below folders that are closed to QEMU’s user', { timeout: DEADLINE_MS }, async ({ signal }) => {
  assert.equal(statSync(dirname(pod.env[SANDBOX_VARIABLE] ?? '')).mode & 0o777, 0o700);
  const folder = sandboxPath(claimMount('data').mountPath, pod.env);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'disk.img'), bootSector('from a PVC'));
  for (const path of isRoot ? [folder, join(folder, 'disk.img')] : []) chownSync(path, QEMU_USER, QEMU_USER);
  const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
  const qemu = await start(vmi({ disks: [{ name: 'data', disk: { bus: 'virtio' } }] }, [data]), signal);
  await serialSays('from a PVC', signal);
  assert.equal(await quit(qemu), 0);
});

test('a PVC in Block mode of the embedded cluster is a file as large as it, which is raw whatever it begins with', {
  timeout: DEADLINE_MS,
}, async ({ signal }) => {
  const folder = sandboxPath(claimDevice('data').devicePath, pod.env);
  mkdirSync(folder, { recursive: true });
  if (isRoot) chownSync(folder, QEMU_USER, QEMU_USER);
  const data: Volume = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
  const text = vmi({ disks: [{ name: 'data', disk: { bus: 'virtio' } }] }, [data]);
  pod.env[LAUNCHER_VARIABLES.newDiskBytes] = JSON.stringify({ data: 2 ** 20 });
  assert.equal(await quit(await start(text, signal)), 0);
  assert.deepEqual([statSync(join(folder, 'disk.img')).size, readdirSync(folder)], [2 ** 20, ['disk.img', 'disk.img.format']]);
  writeFileSync(join(folder, 'disk.img.format'), 'qcow2\n');
  const file = openSync(join(folder, 'disk.img'), 'r+');
  writeSync(file, bootSector('from a device'));
  closeSync(file);
  pod.env[LAUNCHER_VARIABLES.newDiskBytes] = JSON.stringify({ data: 2 ** 21 });
  const qemu = await start(text, signal);
  await serialSays('from a device', signal);
  assert.equal(await quit(qemu), 0);
  assert.equal(statSync(join(folder, 'disk.img')).size, 2 ** 21);
  pod.env[LAUNCHER_VARIABLES.diskImages] = JSON.stringify({ data: 'an/image' });
  const { stderr } = spawnSync(LAUNCHER, ['prepare'], { env: { ...pod.env, [LAUNCHER_VARIABLES.vmi]: text }, encoding: 'utf8' });
  assert.match(stderr, /^error\[DISK_INVALID\]: the PVC of disk "data" cannot begin as the image an\/image/);
});

test('a file of the node boots, raw whatever it begins with, and one that is missing is told', { timeout: DEADLINE_MS }, async ({
  signal,
}) => {
  const folder = sandboxPath(claimMount('data').mountPath, pod.env);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'machine.raw'), bootSector('from a file of the node'));
  for (const path of isRoot ? [folder, join(folder, 'machine.raw')] : []) chownSync(path, QEMU_USER, QEMU_USER);
  const text = (path: string) =>
    vmi({ disks: [{ name: 'data', disk: { bus: 'virtio' } }] }, [{ name: 'data', hostDisk: { path, type: 'Disk' } }]);
  const qemu = await start(text('/srv/disks/machine.raw'), signal);
  await serialSays('from a file of the node', signal);
  assert.equal(await quit(qemu), 0);
  const env = { ...pod.env, [LAUNCHER_VARIABLES.vmi]: text('/srv/disks/other.raw') };
  assert.match(
    spawnSync(LAUNCHER, ['prepare'], { env, encoding: 'utf8' }).stderr,
    /^error\[HOST_DISK_MISSING\]: there is no file "other\.raw"/,
  );
});

/** Puts files where the kubelet mounts an object for the Pod. */
function mounted(mountPath: string, files: Record<string, string>): void {
  const folder = sandboxPath(mountPath, pod.env);
  mkdirSync(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content);
}

test('a config drive has its data from two Secrets and its keys from a third', { timeout: DEADLINE_MS }, async ({ signal }) => {
  mounted(contentMount('seed').mountPath, { userdata: '#cloud-config' });
  mounted(networkContentMount('seed').mountPath, { networkdata: '{"links":[]}' });
  mounted(credentialMount('keys').mountPath, { key1: 'ssh-ed25519 A\n' });
  const secret = { secretRef: { name: 's' }, networkDataSecretRef: { name: 'n' } };
  const sshPublicKey = { source: { secret: { secretName: 'keys' } }, propagationMethod: { configDrive: {} } };
  const text = vmi({ disks: [{ name: 'seed' }] }, [{ name: 'seed', cloudInitConfigDrive: secret }], {
    accessCredentials: [{ sshPublicKey }],
  });
  const started = await start(text, signal);
  const iso = readFileSync(join(pod.privateFolder, 'disks', 'disk0.iso'), 'latin1');
  for (const part of ['config-2', '#cloud-config', '{"links":[]}', '"public_keys":{"0":"ssh-ed25519 A"}'])
    assert.ok(iso.includes(part), part);
  assert.equal(await quit(started), 0);
});

test('a ConfigMap, fields of the Pod and answer files are disks with labels', { timeout: DEADLINE_MS }, async ({ signal }) => {
  mounted(contentMount('settings').mountPath, { 'app.conf': 'colour = blue' });
  mounted(contentMount('fields').mountPath, { labels: 'app="x"' });
  mounted(contentMount('answers').mountPath, { 'autounattend.xml': '<unattend/>' });
  const volumes: Volume[] = [
    { name: 'settings', configMap: { name: 'c' } },
    { name: 'fields', downwardAPI: { volumeLabel: 'my-label' } },
    { name: 'answers', sysprep: { configMap: { name: 'a' } } },
  ];
  const started = await start(vmi({ disks: volumes.map(({ name }) => ({ name, cdrom: {} })) }, volumes), signal);
  const parts = [
    ['cfgdata', 'colour = blue'],
    ['my-label', 'app="x"'],
    ['unattendCD', '<unattend/>'],
  ];
  for (const [index, [label = '', content = '']] of parts.entries()) {
    const iso = readFileSync(join(pod.privateFolder, 'disks', `disk${index}.iso`), 'latin1');
    assert.deepEqual([iso.slice(32808, 32840).trim(), iso.includes(content)], [label, true]);
  }
  assert.equal(await quit(started), 0);
});
