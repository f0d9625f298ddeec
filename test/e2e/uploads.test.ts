/** Disks of this machine, sent to a cluster: by our virtctl through the API, and by requests as clients of CDI make them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { SecureContextOptions } from 'node:tls';
import { subresourcePath } from '../../src/api/kubevirt/subresource-path.ts';
import { loadKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { demoDisk } from './demo-disk.ts';
import { EmbeddedCluster } from './harness.ts';

const MIB = 2 ** 20;
const VIRTCTL = resolve(import.meta.dirname, '../../bin/virtctl');
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;

function machine(name: string, dataVolume: string): string {
  const domain = { resources: { requests: { memory: '128Mi' } }, devices: { disks: [{ name: 'root', disk: { bus: 'virtio' } }] } };
  const spec = { domain, volumes: [{ name: 'root', dataVolume: { name: dataVolume } }], terminationGracePeriodSeconds: 0 };
  return JSON.stringify({
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: { name },
    spec: { running: true, template: { spec } },
  });
}

/** A disk with something at many places, and holes between. */
function writeDisk(path: string, bytes: number): void {
  const file = openSync(path, 'w');
  for (let at = 0; at < bytes; at += 8 * MIB) writeSync(file, randomBytes(MIB), 0, MIB, at);
  ftruncateSync(file, bytes);
  closeSync(file);
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Sends in the background, until this much of it is on the PVC. */
async function sendSome(cluster: EmbeddedCluster, claim: string, path: string, bytes: number): Promise<ChildProcess> {
  const args = ['image-upload', 'dv', claim, '--size', '128Mi', '--image-path', path];
  const child = spawn(VIRTCTL, args, { env: cluster.environment(), stdio: ['ignore', 'ignore', 'inherit'] });
  const folder = join(await cluster.folderOf(claim), '.import');
  const size = () => {
    const name = statSync(folder, { throwIfNoEntry: false }) && readdirSync(folder).find((each) => each.startsWith('upload-'));
    return name === undefined ? 0 : (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0);
  };
  while (size() < bytes) await new Promise((done) => setTimeout(done, 20));
  return child;
}

type Sent = { method: string; token?: string; body?: Buffer; headers?: Record<string, string>; tls?: SecureContextOptions };

/** As a client that knows nothing but the address and a token. */
function send(url: string, options: Sent): Promise<{ code: number; text: string }> {
  const headers = { ...options.headers, ...(options.token !== undefined && { authorization: `Bearer ${options.token}` }) };
  const signal = AbortSignal.timeout(60_000);
  return new Promise((done, failed) => {
    const sent = request(url, { method: options.method, headers, rejectUnauthorized: false, signal, ...options.tls }, async (answer) => {
      const chunks = await answer.toArray();
      done({ code: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
    });
    sent.on('error', failed).end(options.body);
  });
}

/** Over HTTP/1.1, where nothing is said after it that would push it on; the answer is how much of it came. */
async function inOneRequest(cluster: EmbeddedCluster, name: string, bytes: number): Promise<number> {
  const { server, ca, cert, key } = loadKubeconfig(join(cluster.home, 'kubeconfig'));
  const door = subresourcePath({ resource: 'persistentvolumeclaims', namespace: cluster.namespace, name }, 'upload');
  const headers = { 'content-range': `bytes 0-${bytes - 1}/${2 * bytes}` };
  const { text } = await send(`${server}${door}`, { method: 'PUT', headers, body: Buffer.alloc(bytes, 1), tls: { ca, cert, key } });
  return (JSON.parse(text) as { receivedBytes: number }).receivedBytes;
}

/** An embedded cluster says where it is; for a real one we lead there ourselves, as the documents tell people to. */
async function uploadProxy(cluster: EmbeddedCluster, t: TestContext): Promise<string> {
  if (!isReal) {
    await cluster.must('kubectl', ['wait', 'cdiconfig/config', '--for=jsonpath={.status.uploadProxyURL}', '--timeout=60s']);
    return cluster.field('cdiconfig', 'config', '.status.uploadProxyURL');
  }
  const args = ['port-forward', '-n', 'kubevirt', 'service/cdi-uploadproxy', ':443'];
  const child = spawn(cluster.kubectls.current, args, { env: cluster.environment(), stdio: ['ignore', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const [said] = await once(child.stdout, 'data', { signal: AbortSignal.timeout(60_000) });
  return `https://127.0.0.1:${/127\.0\.0\.1:(\d+)/.exec(`${said}`)?.[1]}`;
}

test('disks are sent to a cluster', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const upload = (...args: string[]) => cluster.virtctl(['image-upload', ...args]);
  const file = (name: string) => join(cluster.home, name);
  const tokens = `/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/${cluster.namespace}/uploadtokenrequests`;
  const tokenFor = async (pvcName: string) => {
    const input = JSON.stringify({
      apiVersion: 'upload.cdi.kubevirt.io/v1beta1',
      kind: 'UploadTokenRequest',
      metadata: { name: 't' },
      spec: { pvcName },
    });
    const { code, stdout, stderr } = await cluster.kubectl(['create', '--raw', tokens, '-f', '-'], { input });
    return code === 0 ? { token: (JSON.parse(stdout) as { status: { token: string } }).status.token } : { refused: stderr };
  };

  await t.test('a machine boots from one', async () => {
    const disk = await demoDisk(cluster);
    await cluster.must('kubectl', ['create', '-f', '-'], { input: machine('sent', 'root') });
    assert.match(
      await cluster.must('virtctl', ['image-upload', 'dv', 'root', '--size', '256Mi', '--image-path', disk]),
      /is the disk of dv root\n$/,
    );
    await cluster.until('dv/root', '.status.phase', 'Succeeded');
    await cluster.until('vm/sent', '.status.printableStatus', 'Running');
    await using console = cluster.console('sent');
    await console.expect(/guest ready/);
    assert.match((await upload('dv', 'root', '--size', '256Mi', '--image-path', disk)).stderr, /it is filled already/);
    await cluster.must('kubectl', ['delete', 'vm/sent']);
  });

  await t.test('a kill -9 of the sender and of the cluster, or of the Pod that receives, cost nothing', async () => {
    const path = file('large.img');
    writeDisk(path, 96 * MIB);
    const first = await sendSome(cluster, 'large', path, 4 * MIB);
    first.kill('SIGKILL');
    await once(first, 'exit');
    await cluster.until('dv/large', '.status.phase', 'UploadReady'); // told a moment after the first bytes
    const second = await sendSome(cluster, 'large', path, 16 * MIB);
    const ended = once(second, 'exit');
    if (isReal) await cluster.must('kubectl', ['delete', 'pods', '--all', '--force', '--grace-period=0']);
    else process.kill(cluster.pid(), 'SIGKILL');
    if (!isReal) await cluster.must('virtctl', ['up']);
    assert.deepEqual(await ended, [0, null]);
    await cluster.until('dv/large', '.status.phase', 'Succeeded');
    const folder = await cluster.folderOf('large');
    assert.deepEqual(readdirSync(folder).sort(), ['disk.img', 'disk.img.format']);
    assert.equal(digestOf(readFileSync(join(folder, 'disk.img')).subarray(0, 96 * MIB)), digestOf(readFileSync(path)));
    await cluster.must('kubectl', ['delete', 'dv/large']);
  });

  await t.test('what is no disk is refused with the reason, and something else can be sent', async () => {
    const [backed, odd, large, good] = ['backed.qcow2', 'odd.img', 'huge.img', 'good.img'].map(file) as [string, string, string, string];
    const header = Buffer.alloc(1024);
    header.write('QFI\xfb', 0, 'latin1');
    header.writeUInt32BE(3, 4);
    header.writeBigUInt64BE(512n, 8); // a backing file, whose name is there
    header.writeUInt32BE(11, 16);
    header.writeUInt32BE(16, 20);
    header.writeBigUInt64BE(BigInt(MIB), 24);
    header.writeUInt32BE(104, 100);
    header.write('/etc/passwd', 512);
    writeFileSync(backed, header);
    writeFileSync(odd, 'no sectors');
    writeDisk(large, 128 * MIB);
    writeDisk(good, MIB);
    const refused = async (path: string) =>
      (await upload('pvc', 'picky', '--size', '64Mi', '--image-path', path)).stderr.replaceAll('\n', ' ');
    assert.match(await refused(backed), /UPLOAD_REFUSED.*an overlay of another file/);
    assert.match(await refused(odd), /UPLOAD_REFUSED.*whole sectors/);
    assert.match(await refused(large), /UPLOAD_REFUSED.*larger than its PVC/);
    assert.deepEqual(readdirSync(await cluster.folderOf('picky')), ['.import']);
    await cluster.must('virtctl', ['image-upload', 'pvc', 'picky', '--no-create', '--image-path', good]);
    await cluster.until('pvc/picky', '.metadata.annotations.cdi\\.kubevirt\\.io/storage\\.pod\\.phase', 'Succeeded');
    assert.equal(digestOf(readFileSync(join(await cluster.folderOf('picky'), 'disk.img')).subarray(0, MIB)), digestOf(readFileSync(good)));
  });

  await t.test('a token is good for one PVC alone', async () => {
    const url = `${await uploadProxy(cluster, t)}/v1beta1/upload`;
    const claim = (name: string) => {
      const annotations = { 'cdi.kubevirt.io/storage.upload.target': '' };
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } };
      return JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata: { name, annotations }, spec });
    };
    assert.match((await tokenFor('nobody')).refused ?? '', /"nobody" not found/);
    assert.match((await tokenFor('picky')).refused ?? '', /is filled already/);
    await cluster.must('kubectl', ['create', '-f', '-'], { input: claim('again') });
    const { token: old = '' } = await tokenFor('again');
    await cluster.must('kubectl', ['delete', 'pvc/again']);
    await cluster.must('kubectl', ['create', '-f', '-'], { input: claim('again') });
    await cluster.until('pvc/again', '.metadata.annotations.cdi\\.kubevirt\\.io/storage\\.pod\\.ready', 'true');
    const { token = '' } = await tokenFor('again');
    const [claims = '', signature = ''] = token.split('.');
    const others = Buffer.from(Buffer.from(claims, 'base64url').toString().replace('again', 'other')).toString('base64url');
    const body = readFileSync(file('good.img'));
    const codes = [];
    for (const wrong of [undefined, 'x', old, `${others}.${signature}`, `${claims}.`, `${token}x`])
      codes.push((await send(url, { method: 'POST', body, ...(wrong !== undefined && { token: wrong }) })).code);
    assert.deepEqual(codes, [401, 401, 401, 401, 401, 401]);
    assert.equal((await send(`${url}-async`, { method: 'HEAD', token })).code, 200);
    assert.equal((await send(`${url}/../../apis`, { method: 'GET', token })).code, 401);
    assert.equal(await inOneRequest(cluster, 'again', 32 * MIB), 32 * MIB);
    assert.equal((await send(`${url}-async`, { method: 'POST', token, body })).code, 200);
    await cluster.until('pvc/again', '.metadata.annotations.cdi\\.kubevirt\\.io/storage\\.pod\\.phase', 'Succeeded');
    assert.equal((await send(url, { method: 'POST', token, body })).code, 409, 'what is there is not replaced');
  });
});
