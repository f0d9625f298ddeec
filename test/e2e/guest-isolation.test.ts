/** A guest that has broken out of its QEMU: what a process with its user and groups gets at of the guest beside it. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { chmodSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { EmbeddedCluster, run } from './harness.ts';

type Attack = { readonly uid: number; readonly gid: number; readonly groups: readonly number[]; readonly paths: readonly string[] };

/** Loaded as root, then somebody else for good; says which of the paths it got at, and how. */
const ATTACKER = `
const fs = require('node:fs'), net = require('node:net');
const { uid, gid, groups, paths } = JSON.parse(process.argv[1]);
process.setgroups(groups); process.setgid(gid); process.setuid(uid);
const got = [];
const attempt = (path, how, what) => { try { what(); got.push(how + ' ' + path); } catch {} };
const connect = (path) => new Promise((done) => {
  const socket = net.connect(path).once('connect', () => { got.push('connect ' + path); socket.destroy(); done(); }).once('error', () => done());
});
(async () => {
  for (const path of paths) {
    attempt(path, 'read', () => fs.closeSync(fs.openSync(path, 'r')));
    attempt(path, 'write', () => fs.closeSync(fs.openSync(path, fs.constants.O_WRONLY | fs.constants.O_NONBLOCK)));
    attempt(path, 'follow', () => fs.readlinkSync(path));
    await connect(path);
  }
  process.stdout.write(JSON.stringify(got));
})();`;

function attack(task: Attack): Promise<string[]> {
  return new Promise((resolve, reject) => {
    execFile(process.execPath, ['-e', ATTACKER, JSON.stringify(task)], { maxBuffer: 2 ** 24 }, (error, stdout) =>
      error ? reject(error) : resolve(JSON.parse(stdout)),
    );
  });
}

function machine(name: string): object {
  const disks = ['root', 'data', 'init'].map((disk) => ({ name: disk, disk: { bus: 'virtio' } }));
  const volumes = [
    { name: 'root', containerDisk: { image: 'localhost/guests/tiny:latest' } },
    { name: 'data', persistentVolumeClaim: { claimName: name } },
    { name: 'init', cloudInitNoCloud: { userData: '#!/bin/sh\necho secret\n' } },
  ];
  const domain = { memory: { guest: '64Mi' }, devices: { disks } };
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: { runStrategy: 'Always', template: { spec: { domain, volumes, terminationGracePeriodSeconds: 5 } } },
  };
}

const claim = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
});

/** Folders, files and sockets, the folder itself included; links are not followed. */
function everythingIn(folder: string): string[] {
  return [folder, ...readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name))];
}

function idsOf(pid: number): Omit<Attack, 'paths'> {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const ids = (name: string) =>
    (new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '').trim().split(/\s+/).filter(Boolean).map(Number);
  return { uid: ids('Uid')[0] ?? 0, gid: ids('Gid')[0] ?? 0, groups: ids('Groups') };
}

test('a guest that has left its QEMU gets at nothing of the guest beside it', {
  skip: process.getuid?.() !== 0 && 'needs root',
}, async (t) => {
  await using cluster = await EmbeddedCluster.start();
  chmodSync(dirname(cluster.home), 0o711); // what is closed above it must not be what protects it
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  for (const name of ['attacker', 'victim']) for (const object of [claim(name), machine(name)]) await create(object);
  for (const name of ['attacker', 'victim']) await cluster.until(`vm/${name}`, '.status.ready', 'true');
  const podOf = async (name: string) => {
    const uid = await cluster.field('vmi', name, '.metadata.uid');
    const path = `jsonpath={.items[0].metadata.uid}`;
    return join(
      cluster.home,
      'kubelet/pods',
      await cluster.must('kubectl', ['get', 'pods', '-l', `kubevirt.io/created-by=${uid}`, '-o', path]),
    );
  };
  const pods = { attacker: await podOf('attacker'), victim: await podOf('victim') };
  const qemuOf = (dir: string) => cluster.guestPids().find((pid) => readlinkSync(`/proc/${pid}/cwd`).startsWith(dir)) ?? 0;
  const qemu = { attacker: qemuOf(pods.attacker), victim: qemuOf(pods.victim) };
  const folderOf = async (name: string) => cluster.field('pv', await cluster.field('pvc', name, '.spec.volumeName'), '.spec.hostPath.path');
  const ids = idsOf(qemu.attacker);
  const becoming = ['setpriv', '--reuid', `${ids.uid}`, '--regid', `${ids.gid}`, '--groups', ids.groups.join(','), '--'];

  await t.test('neither its disks, its sockets and its logs, nor what /proc tells of its process', async () => {
    const files = [...everythingIn(pods.victim), ...everythingIn(await folderOf('victim'))];
    const kinds = [
      files.some((path) => path.endsWith('qmp.sock') && lstatSync(path).isSocket()),
      ...['.iso', '.qcow2', 'disk.img', '.log'].map((end) => files.some((path) => path.endsWith(end))),
    ];
    assert.deepEqual(kinds, [true, true, true, true, true]); // what there is to attack
    const ofProcess = ['cwd', 'root', 'exe', 'environ', 'maps', 'fd', 'mem'].map((name) => `/proc/${qemu.victim}/${name}`);
    const inside = ['.', '../private'].map((name) => join(`/proc/${qemu.victim}/cwd`, name));
    const paths = [...files, ...ofProcess, ...inside];
    assert.deepEqual(await attack({ ...ids, paths }), []);
    const home = readdirSync(cluster.home).map((name) => join(cluster.home, name));
    assert.deepEqual(await attack({ ...ids, paths: [cluster.home, ...home, ...everythingIn(join(cluster.home, 'images'))] }), []);
  });

  await t.test('it sees neither its process nor its folders, nor anything of the cluster', async () => {
    for (const namespace of ['mnt', 'pid'])
      for (const other of [process.pid, qemu.victim])
        assert.notEqual(readlinkSync(`/proc/${qemu.attacker}/ns/${namespace}`), readlinkSync(`/proc/${other}/ns/${namespace}`));
    const inside = `ls -A '${cluster.home}'; ls -A ../../../..; ls -A ../../../../..; echo /proc/[0-9]*/comm; cat /proc/[0-9]*/comm`;
    const { stdout } = await run('nsenter', ['-t', `${qemu.attacker}`, '-m', '-p', '-w', ...becoming, 'sh', '-c', inside]);
    assert.equal(stdout.match(/qemu/g)?.length, 1, stdout); // its own
    assert.doesNotMatch(stdout, /virtctl|node|pki|images|volumes|kubelet|[0-9a-f]{8}-[0-9a-f]{4}/);
  });

  await t.test('of its own it gets at what it needs', async () => {
    const own = [join(pods.attacker, 'volumes/kubernetes.io~empty-dir/public'), join(await folderOf('attacker'), 'disk.img')];
    assert.equal((await attack({ ...ids, paths: own })).length, 3);
  });

  await t.test('each has a user of its own, which no user of the host has, and keeps it', async () => {
    const [first, second] = [ids.uid, idsOf(qemu.victim).uid];
    assert.ok(first !== second && first !== 107 && first > 30_000, `${first} ${second}`);
    const uid = await cluster.field('vmi', 'attacker', '.metadata.uid');
    await cluster.must('virtctl', ['restart', 'attacker']);
    await cluster.untilReplaced('attacker', uid);
    assert.equal(idsOf(qemuOf(await podOf('attacker'))).uid, first);
  });
});
