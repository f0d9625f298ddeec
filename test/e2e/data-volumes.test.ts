import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { openImageStore } from '../../src/images/store.ts';
import { EmbeddedCluster } from './harness.ts';

/** An address of the cluster that no Pod has. */
const ADDRESS = '10.244.250.1';
const VM = 'imported';
const CONDITION = '.status.conditions[?(@.type=="Running")]';

function machine(checksum: string): object {
  const source = { http: { url: `http://${ADDRESS}/tiny`, checksum } };
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

/** In the network of the cluster, which outlives a kill of its process. */
async function serveDisk(cluster: EmbeddedCluster, path: string): Promise<Server> {
  const args = ['--target', `${cluster.pid()}`, '--net', process.execPath, join(import.meta.dirname, 'disk-server.ts'), path, ADDRESS];
  const child = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const said: string[] = [];
  child.stdout.on('data', (chunk) => said.push(...`${chunk}`.trim().split('\n')));
  await once(child.stdout, 'data');
  return Object.assign(child, { said });
}

/** Between two tries its Pod runs, and it says that instead. */
async function untilSays(cluster: EmbeddedCluster, name: string, what: RegExp): Promise<void> {
  while (!what.test(await cluster.field('dv', name, `${CONDITION}.message`))) await new Promise((resolve) => setTimeout(resolve, 200));
}

test('a machine boots from a disk that was downloaded for it, and a kill -9 meanwhile costs nothing', async (t) => {
  if (process.getuid?.() !== 0) return t.skip('a server is put into the network of the cluster by root');
  await using cluster = await EmbeddedCluster.start();
  const create = (object: object) => cluster.must('kubectl', ['create', '-f', '-'], { input: JSON.stringify(object) });
  const folder = join(await openImageStore(join(cluster.home, 'images')).unpacked('localhost/guests/tiny:latest'), 'disk');
  const disk = join(folder, readdirSync(folder)[0] ?? '');
  const checksum = `sha256:${createHash('sha256').update(readFileSync(disk)).digest('hex')}`;
  const server = await serveDisk(cluster, disk);
  try {
    await create(machine(checksum));
    await cluster.until('dv/root', '.status.phase', 'ImportInProgress');
    await cluster.until('dv/root', `${CONDITION}.reason`, 'Pod is running');
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Provisioning');
    const claim = await cluster.field('pvc', 'root', '.spec.volumeName');
    const claimFolder = await cluster.field('pv', claim, '.spec.hostPath.path');
    const partial = join(claimFolder, '.import', 'partial');
    while ((statSync(partial, { throwIfNoEntry: false })?.size ?? 0) < Math.floor(statSync(disk).size / 2))
      await new Promise((resolve) => setTimeout(resolve, 50));
    assert.deepEqual(cluster.guestPids(), [], 'nothing starts on half of a disk');

    process.kill(cluster.pid(), 'SIGKILL');
    await cluster.must('virtctl', ['up']);
    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Provisioning');
    assert.deepEqual(readdirSync(claimFolder), ['.import']);
    server.stdin.write('go on\n');
    await cluster.until('dv/root', '.status.phase', 'Succeeded');
    assert.equal(await cluster.field('dv', 'root', '.status.progress'), '100.0%');
    assert.deepEqual(
      [readdirSync(claimFolder).sort(), server.said],
      [
        ['disk.img', 'disk.img.format'],
        ['ready', 'asked for all'],
      ],
    );

    await cluster.until(`vm/${VM}`, '.status.printableStatus', 'Running');
    await using console = cluster.console(VM);
    await console.expect(/guest ready/);

    await create(dataVolume('wrong', { http: { url: `http://${ADDRESS}/tiny`, checksum: `sha256:${'0'.repeat(64)}` } }));
    await create(dataVolume('inside', { http: { url: 'http://127.0.0.1/tiny' } }));
    await create(dataVolume('copy', { pvc: { namespace: 'default', name: 'root' } }));
    await create(dataVolume('image', { registry: { url: 'docker://localhost/guests/tiny:latest' } }));
    await cluster.until('dv/image', '.status.phase', 'Succeeded');
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
