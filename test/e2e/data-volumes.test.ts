import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { demoDisk } from './demo-disk.ts';
import { EmbeddedCluster } from './harness.ts';

/** An address of the embedded cluster that no Pod has. */
const ADDRESS = '10.244.250.1';
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
const VM = 'imported';
const CONDITION = '.status.conditions[?(@.type=="Running")]';

function machine(url: string, checksum: string): object {
  const source = { http: { url, checksum } };
  const template = { metadata: { name: 'root' }, spec: { source, storage: { resources: { requests: { storage: '256Mi' } } } } };
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] } };
  const volumes = [{ name: 'root', dataVolume: { name: 'root' } }];
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name: VM },
    spec: { running: true, dataVolumeTemplates: [template], template: { spec: { domain, volumes, terminationGracePeriodSeconds: 0 } } },
  };
}

function dataVolume(name: string, source: object): object {
  const spec = { source, storage: { resources: { requests: { storage: '256Mi' } } } };
  return { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', metadata: { name }, spec };
}

type Server = ChildProcessByStdio<Writable, Readable, null> & { readonly said: string[] };

/** In the network of the embedded cluster, which outlives a kill of its process; on this machine for nodes of a real one. */
async function serveDisk(cluster: EmbeddedCluster, path: string, { host, port }: { host: string; port: string }): Promise<Server> {
  const words = [process.execPath, join(import.meta.dirname, 'disk-server.ts'), path, host, port];
  const [program = '', ...args] = isReal ? words : ['nsenter', '--target', `${cluster.pid()}`, '--net', ...words];
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  child.stdout.on('data', (chunk) => said.push(...`${chunk}`.trim().split('\n')));
  await once(child.stdout, 'data');
  return Object.assign(child, { said });
}

/** Between two tries its Pod runs, and it says that instead. */
async function untilSays(cluster: EmbeddedCluster, name: string, what: RegExp): Promise<void> {
  while (!what.test(await cluster.field('dv', name, `${CONDITION}.message`))) await new Promise((resolve) => setTimeout(resolve, 200));
}

/** Half of the disk is there, and the cluster is killed and started again; on a real one, the Pod that downloads. */
async function killMeanwhile(cluster: EmbeddedCluster, disk: string): Promise<void> {
  const claimFolder = await cluster.folderOf('root');
  const partial = join(claimFolder, '.import', 'partial');
  while ((statSync(partial, { throwIfNoEntry: false })?.size ?? 0) < Math.floor(statSync(disk).size / 2))
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(cluster.guestPids(), [], 'nothing starts on half of a disk');
  if (isReal) await cluster.must('kubectl', ['delete', 'pods', '--all', '--force', '--grace-period=0']);
  else process.kill(cluster.pid(), 'SIGKILL');
  if (!isReal) await cluster.must('virtctl', ['up']);
  await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Provisioning');
  assert.deepEqual(readdirSync(claimFolder), ['.import']);
}

/** Where a server of ours is found from Pods. */
async function addressFor(cluster: EmbeddedCluster): Promise<{ host: string; port: string }> {
  if (!isReal) return { host: ADDRESS, port: '80' };
  const server = await cluster.must('kubectl', ['config', 'view', '--minify', '-o', 'jsonpath={.clusters[0].cluster.server}']);
  return { host: new URL(server).hostname, port: `${20_000 + (process.pid % 10_000)}` };
}

test('a machine boots from a disk that was downloaded for it, and a kill -9 meanwhile costs nothing', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('a server is put into the network of the cluster by root');
  await using cluster = await EmbeddedCluster.start();
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  const disk = await demoDisk(cluster);
  const address = await addressFor(cluster);
  const url = `http://${address.host}:${address.port}/tiny`;
  const checksum = `sha256:${createHash('sha256').update(readFileSync(disk)).digest('hex')}`;
  const server = await serveDisk(cluster, disk, address);
  try {
    await create(machine(url, checksum));
    await cluster.until('dv/root', '.status.phase', 'ImportInProgress');
    await cluster.until('dv/root', `${CONDITION}.reason`, 'Pod is running');
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Provisioning');
    await killMeanwhile(cluster, disk);
    server.stdin.write('go on\n');
    await cluster.until('dv/root', '.status.phase', 'Succeeded');
    assert.equal(await cluster.field('dv', 'root', '.status.progress'), '100.0%');
    // A Pod that is deleted by force runs on for a moment: more than half may have arrived.
    const half = Math.floor(statSync(disk).size / 2);
    const [, from] = /^asked for bytes=(\d+)-$/.exec(server.said[2] ?? '') ?? [];
    assert.deepEqual(server.said.slice(0, 2), ['ready', 'asked for all']);
    assert.ok(isReal ? Number(from) >= half : server.said.length === 2, `what has arrived is kept: ${server.said}`);
    assert.deepEqual(readdirSync(await cluster.folderOf('root')).sort(), ['disk.img', 'disk.img.format']);

    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    await console.expect(/guest ready/);

    await create(dataVolume('wrong', { http: { url, checksum: `sha256:${'0'.repeat(64)}` } }));
    await create(dataVolume('inside', { http: { url: 'http://127.0.0.1/tiny' } }));
    await create(dataVolume('copy', { pvc: { namespace: cluster.namespace, name: 'root' } }));
    await create(dataVolume('image', { registry: { url: 'docker://localhost/guests/tiny:latest' } }));
    await create(dataVolume('empty', { blank: {} }));
    for (const name of isReal ? ['empty'] : ['image', 'empty']) await cluster.until(`dv/${name}`, '.status.phase', 'Succeeded');
    if (isReal) await untilSays(cluster, 'image', /localhost without a port means the images of this machine/); // it has no image volumes
    await untilSays(cluster, 'wrong', /error\[DIGEST_MISMATCH\].*nothing of it was kept/);
    await untilSays(cluster, 'inside', /that is this machine or its own link/);
    await untilSays(cluster, 'copy', /uses PVC root: stop its machine/);

    await cluster.must('virtctl', ['stop', VM]);
    await cluster.untilGone(`vmi/${VM}`);
    await cluster.until('dv/copy', '.status.phase', 'Succeeded');
    assert.match(await cluster.must('virtctl', ['clone', VM, 'twin']), /^twin is what imported is/);
    assert.match(await cluster.field('vm', 'twin', '.spec.template.spec.volumes[0].persistentVolumeClaim.claimName'), /^restore-.*-root$/);
    await cluster.must('kubectl', ['delete', 'vm', VM]);
    await cluster.untilGone('pvc/root');
  } finally {
    server.kill();
  }
});
