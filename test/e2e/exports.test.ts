/** Disks and machines, taken out of a cluster and brought back: by our virtctl through the API, and by requests as clients of KubeVirt make them. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { EXPORT_PORT } from '../../src/api/exporter/exporter.ts';
import { EmbeddedCluster } from './harness.ts';

const MIB = 2 ** 20;
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
const VIRTCTL = resolve(import.meta.dirname, '../../bin/virtctl');
const TOKEN = 'x-kubevirt-export-token';

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** A disk with something at many places, and holes between. */
function writeDisk(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  for (let at = 0; at < bytes; at += 4 * MIB) writeSync(file, randomBytes(MIB), 0, MIB, at);
  ftruncateSync(file, bytes);
  closeSync(file);
}

function machine(name: string, ...disks: string[]): string {
  const devices = { disks: disks.map((each) => ({ name: each, disk: { bus: 'virtio' } })) };
  const volumes = disks.map((each) => ({ name: each, dataVolume: { name: each } }));
  const spec = { domain: { resources: { requests: { memory: '128Mi' } }, devices }, volumes, terminationGracePeriodSeconds: 0 };
  const metadata = { name, labels: { carried: 'yes' } };
  return JSON.stringify({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata,
    spec: { runStrategy: 'Halted', template: { spec } },
  });
}

function exported(name: string, source: object, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'export.kubevirt.io/v1beta1',
    kind: 'VirtualMachineExport',
    metadata: { name },
    spec: { source, ...more },
  });
}

function claim(name: string): string {
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } };
  return JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name }, spec });
}

type Asked = { token?: string; headers?: Record<string, string>; ca?: string; pod?: string | undefined };

/** As a client that knows nothing but the link and a token. Where names of Services lead to is known in a cluster alone: from here it is the Pod. */
function ask(
  url: string,
  { token, headers, ca, pod }: Asked,
): Promise<{ code: number; headers: NodeJS.Dict<string | string[]>; body: Buffer }> {
  const { hostname: servername } = new URL(url);
  const sent = { ...headers, ...(token !== undefined && { [TOKEN]: token }) };
  const way = pod === undefined ? {} : { hostname: pod, port: EXPORT_PORT, servername };
  return new Promise((done, failed) => {
    const asked = request(url, { headers: sent, ...(ca && { ca }), ...way, signal: AbortSignal.timeout(60_000) }, async (answer) => {
      done({ code: answer.statusCode ?? 0, headers: answer.headers, body: Buffer.concat(await answer.toArray()) });
    });
    asked.on('error', failed).end();
  });
}

test('disks and machines are taken out of a cluster', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const file = (name: string) => join(cluster.home, name);
  const make = (input: string) => cluster.must('kubectl', ['create', '-f', '-'], { input });
  const diskOf = async (claim: string) => join(await cluster.folderOf(claim), 'disk.img');
  const linkOf = async (name: string) => {
    const at = `.status.links.${isReal ? 'internal' : 'external'}`;
    const secret = await cluster.field('vmexport', name, '.status.tokenSecretRef');
    return {
      raw: await cluster.field('vmexport', name, `${at}.volumes[0].formats[0].url`),
      gzip: await cluster.field('vmexport', name, `${at}.volumes[0].formats[1].url`),
      all: await cluster.field('vmexport', name, `${at}.manifests[0].url`),
      ca: await cluster.field('vmexport', name, `${at}.cert`),
      pod: isReal ? await cluster.field('pod', `virt-export-${name}`, '.status.podIP') : undefined,
      token: Buffer.from(await cluster.field('secret', secret, '.data.token'), 'base64').toString(),
    };
  };
  writeDisk(file('raw.img'), 32 * MIB);
  await cluster.must('virtctl', ['image-upload', 'dv', 'plain', '--size', '32Mi', '--image-path', file('raw.img')]);
  const images = join(cluster.home, 'packed.qcow2');
  execFileSync('qemu-img', ['convert', '-O', 'qcow2', file('raw.img'), images]);
  await cluster.must('virtctl', ['image-upload', 'dv', 'packed', '--size', '32Mi', '--image-path', images]);
  const digest = digestOf(readFileSync(file('raw.img')));

  await t.test('links serve a disk to who has the token, in parts as well', async () => {
    await make(machine('box', 'packed'));
    await make(exported('linked', { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'box' }));
    await cluster.until('vmexport/linked', '.status.phase', 'Ready');
    const { raw, gzip, all, ca, token, pod } = await linkOf('linked');
    const whole = await ask(raw, { ca, token, pod });
    assert.deepEqual([whole.code, digestOf(whole.body)], [200, digest]);
    const part = await ask(raw, { ca, token, pod, headers: { range: 'bytes=4194300-4194309' } });
    assert.deepEqual([part.code, part.headers['content-range']], [206, `bytes 4194300-4194309/${32 * MIB}`]);
    assert.deepEqual(part.body, whole.body.subarray(4194300, 4194310));
    assert.equal(digestOf(gunzipSync((await ask(gzip, { ca, token, pod })).body)), digest);
    const { items } = JSON.parse((await ask(all, { ca, token, pod, headers: { accept: 'application/json' } })).body.toString()) as {
      items: { kind: string }[];
    };
    assert.deepEqual(
      items.map(({ kind }) => kind),
      ['ConfigMap', 'VirtualMachine', 'DataVolume'],
    );
    const codes = [];
    for (const wrong of [{}, { token: '' }, { token: `${token}x` }, { token: 'x'.repeat(5000) }])
      codes.push((await ask(raw, { ca, pod, ...wrong })).code);
    assert.deepEqual(codes, [401, 401, 401, 401]);
    assert.equal((await ask(raw.replace('/packed/', '/other/'), { ca, token, pod })).code, 404);
    assert.equal((await ask(raw, { ca, token, pod, headers: { range: 'bytes=99999999999-' } })).code, 416);
    assert.equal((await ask(raw, { ca, token, pod, headers: { 'if-match': '"old"' } })).code, 412);
  });

  await t.test('a machine that starts takes its disk back; one that is gone, and a time that is over, end an export', async () => {
    await cluster.must('kubectl', ['patch', 'vm/box', '--type=merge', '-p', '{"spec":{"runStrategy":"Always"}}']);
    await cluster.until('vmexport/linked', '.status.phase', 'Pending');
    assert.match(await cluster.field('vmexport', 'linked', '.status.conditions[?(@.type=="Ready")].reason'), /InUse/);
    assert.equal(await cluster.field('vmexport', 'linked', '.status.links'), '');
    await cluster.must('kubectl', ['patch', 'vm/box', '--type=merge', '-p', '{"spec":{"runStrategy":"Halted"}}']);
    await cluster.until('vmexport/linked', '.status.phase', 'Ready');
    await cluster.must('kubectl', ['delete', 'vm/box']);
    await cluster.until('vmexport/linked', '.status.phase', 'Pending');
    await cluster.must('virtctl', ['vmexport', 'delete', 'linked']);
    await make(exported('short', { kind: 'PersistentVolumeClaim', name: 'plain' }, { ttlDuration: '1s' }));
    await cluster.must('kubectl', ['wait', 'vmexport/short', '--for=delete', '--timeout=30s']);
  });

  await t.test('a kill -9 of the cluster, or of its Pod, and of virtctl cost nothing', async () => {
    await cluster.must('virtctl', ['vmexport', 'create', 'kept', '--pvc', 'plain']);
    await cluster.until('vmexport/kept', '.status.phase', 'Ready');
    const args = ['vmexport', 'download', 'kept', '--format', 'raw', '--output', file('out.img')];
    const some = async () => {
      const child = spawn(VIRTCTL, args, { env: cluster.environment(), stdio: ['ignore', 'ignore', 'inherit'] });
      const ended = once(child, 'exit');
      const noted = () => statSync(file('out.img.part.json'), { throwIfNoEntry: false })?.mtimeMs;
      for (const before = noted(); noted() === before && !existsSync(file('out.img')); ) await new Promise((done) => setTimeout(done, 5));
      return { child, ended };
    };
    const first = await some();
    first.child.kill('SIGKILL');
    await first.ended;
    const second = await some();
    if (isReal) await cluster.must('kubectl', ['delete', 'pod/virt-export-kept', '--force', '--grace-period=0']);
    else process.kill(cluster.pid(), 'SIGKILL');
    if (!isReal) await cluster.must('virtctl', ['up']);
    assert.deepEqual(await second.ended, [0, null]);
    assert.equal(digestOf(readFileSync(file('out.img'))), digest);
    assert.deepEqual(
      readdirSync(cluster.home).filter((name) => name.startsWith('out.img')),
      ['out.img'],
    );
    assert.ok(statSync(file('out.img')).blocks * 512 < 16 * MIB, 'what is zero takes no room');
    await cluster.must('virtctl', ['vmexport', 'download', 'kept', '--output', file('out.img.gz'), '--delete-vme']);
    assert.equal(digestOf(gunzipSync(readFileSync(file('out.img.gz')))), digest);
    assert.equal((await cluster.kubectl(['get', 'vmexport/kept'])).code, 1);
  });

  await t.test('a machine is carried out in one file and in again, with the same bytes', async () => {
    await make(machine('carried', 'plain', 'packed'));
    const path = file('carried.tar');
    await cluster.must('virtctl', ['export', 'carried', path]);
    assert.match((await cluster.virtctl(['import', path])).stderr, /NAME_TAKEN/);
    await cluster.must('virtctl', ['import', path, '--name', 'again']);
    assert.equal(await cluster.field('vm', 'again', '.metadata.labels.carried'), 'yes');
    assert.equal(await cluster.field('vm', 'again', '.spec.template.spec.volumes[1].dataVolume.name'), 'again-disk-1');
    for (const claim of ['again-disk-0', 'again-disk-1']) assert.equal(digestOf(readFileSync(await diskOf(claim))), digest, claim);
    const broken = readFileSync(path);
    broken[broken.length / 2] = (broken[broken.length / 2] ?? 0) ^ 1;
    writeFileSync(file('broken.tar'), broken);
    assert.match((await cluster.virtctl(['import', file('broken.tar'), '--name', 'third'])).stderr, /FILE_DAMAGED/);
    assert.deepEqual(await cluster.must('kubectl', ['get', 'dv,vm', '-o', 'name']).then((text) => text.includes('third')), false);
    assert.equal(await cluster.must('kubectl', ['get', 'vmexport', '-o', 'name']), '');
  });

  await t.test('files of a PVC that is no disk are an archive, and a page of links; no link leads out of it', async () => {
    await make(claim('notes'));
    const folder = await cluster.folderOf('notes');
    mkdirSync(join(folder, 'deep'), { recursive: true }); // embedded, the folder comes with the first Pod
    writeFileSync(join(folder, 'deep/note'), 'what was noted\n');
    await cluster.must('virtctl', ['vmexport', 'create', 'files', '--pvc', 'notes']);
    await cluster.until('vmexport/files', '.status.phase', 'Ready');
    const { raw: dir, gzip: archive, ca, token, pod } = await linkOf('files');
    assert.match((await ask(`${dir}/deep/`, { ca, token, pod })).body.toString(), /<a href="note">/);
    assert.equal((await ask(`${dir}/deep/note`, { ca, token, pod })).body.toString(), 'what was noted\n');
    writeFileSync(file('link.tar.gz'), (await ask(archive, { ca, token, pod })).body);
    await cluster.must('virtctl', ['vmexport', 'download', 'files', '--output', file('notes.tar.gz'), '--delete-vme']);
    for (const each of ['link.tar.gz', 'notes.tar.gz'])
      assert.equal(execFileSync('tar', ['-xzOf', file(each), 'deep/note'], { encoding: 'utf8' }), 'what was noted\n');
    symlinkSync('/etc/passwd', join(folder, 'deep/link'));
    await cluster.must('virtctl', ['vmexport', 'create', 'away', '--pvc', 'notes']);
    const ready = '.status.conditions[?(@.type=="Ready")].message';
    await cluster.until(
      'vmexport/away',
      ready,
      'PVC notes: "deep/link" on the volume is refused: it is a link that leads out of the volume',
    );
    await cluster.must('virtctl', ['vmexport', 'delete', 'away']);
  });

  await t.test('a snapshot is exported by PVCs of its own, which go with the export', async () => {
    await cluster.must('virtctl', ['snapshot', 'carried', 'before']);
    await cluster.must('virtctl', ['export', 'before', file('before.tar'), '--snapshot']);
    await cluster.must('virtctl', ['import', file('before.tar'), '--name', 'earlier']);
    assert.equal(digestOf(readFileSync(await diskOf('earlier-disk-0'))), digest);
    for (let left = 'export-'; left.includes('export-'); ) left = await cluster.must('kubectl', ['get', 'pvc,pods,secrets', '-o', 'name']);
  });
});
