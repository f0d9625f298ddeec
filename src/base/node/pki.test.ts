import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { ensurePki, subjectNamesOf } from './pki.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
let folder = '';
let pki = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pki-'));
  pki = join(folder, 'pki');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('every leaf chains to its authority and carries the right subject', async () => {
  const made = await ensurePki(pki, new FakeClock());
  const facts = Object.entries(made)
    .filter((entry): entry is [string, { cert: string; key: string }] => typeof entry[1] === 'object')
    .map(([name, { cert }]) => {
      const certificate = new X509Certificate(cert);
      const authority = [made.ca, made.frontProxyCa, made.kubevirtCa].find((ca) => certificate.verify(new X509Certificate(ca).publicKey));
      return [name, certificate.subject, new X509Certificate(authority ?? '').subject];
    });
  assert.deepEqual(facts, [
    ['apiServer', 'CN=kube-apiserver', 'CN=kubernetes-ca'],
    ['admin', 'CN=kubernetes-admin\nO=system:masters', 'CN=kubernetes-ca'],
    ['frontProxyClient', 'CN=front-proxy-client', 'CN=front-proxy-ca'],
    ['virtApi', 'CN=virt-api.kubevirt.svc', 'CN=kubevirt-ca'],
    ['virtHandler', 'CN=virt-handler.kubevirt.svc', 'CN=kubevirt-ca'],
    ['virtHandlerClient', 'CN=kubevirt.io:system:client:virt-handler', 'CN=kubevirt-ca'],
    ['migrationClient', 'CN=kubevirt.io:system:client:migration', 'CN=kubevirt-ca'],
  ]);
});

test('the API server is valid for every name it is reached by', async () => {
  const { dnsNames, ipAddresses } = subjectNamesOf((await ensurePki(pki, new FakeClock())).apiServer.cert);
  for (const name of ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'kubernetes.default.svc.cluster.local']) {
    assert.ok(dnsNames.includes(name), name);
  }
  assert.deepEqual(ipAddresses, ['127.0.0.1', '::1', '10.96.0.1']);
});

test('a second start changes nothing', async () => {
  const clock = new FakeClock();
  assert.deepEqual(await ensurePki(pki, clock), await ensurePki(pki, clock));
});

test('a start with all certificates in place does not load the X.509 packages', async () => {
  await ensurePki(pki, new FakeClock(Date.now()));
  const script = `
    import { ensurePki } from ${JSON.stringify(new URL('./pki.ts', import.meta.url).href)};
    await ensurePki(${JSON.stringify(pki)}, { now: () => Date.now(), sleep: async () => {} });
    console.log(typeof Reflect.getMetadata);`;
  const { execFile } = await import('node:child_process');
  const { promisify } = await import('node:util');
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  assert.equal(stdout.trim(), 'undefined');
});

test('only the owner can read the folder and the files', async () => {
  await ensurePki(pki, new FakeClock());
  assert.equal((await stat(pki)).mode & 0o777, 0o700);
  for (const file of await readdir(pki)) assert.equal((await stat(join(pki, file))).mode & 0o777, 0o600, file);
});

test('leaves are renewed before they end, by the same authorities', async () => {
  const clock = new FakeClock();
  const before = await ensurePki(pki, clock);
  clock.advance(300 * DAY_MS);
  assert.deepEqual(await ensurePki(pki, clock), before);
  clock.advance(10 * DAY_MS);
  const after = await ensurePki(pki, clock);
  assert.equal(after.ca, before.ca);
  assert.notEqual(after.apiServer.cert, before.apiServer.cert);
  assert.notEqual(after.admin.key, before.admin.key);
});

test('an authority near its end is replaced together with its leaves', async () => {
  const clock = new FakeClock();
  const before = await ensurePki(pki, clock);
  clock.advance(9 * 365 * DAY_MS);
  const after = await ensurePki(pki, clock);
  assert.notEqual(after.ca, before.ca);
  assert.ok(new X509Certificate(after.admin.cert).verify(new X509Certificate(after.ca).publicKey));
});

test('a leaf that was only half written is made again', async () => {
  const clock = new FakeClock();
  const before = await ensurePki(pki, clock);
  await rm(join(pki, 'admin.crt'));
  await writeFile(join(pki, 'apiserver.key'), 'not a key');
  const after = await ensurePki(pki, clock);
  assert.notEqual(after.admin.cert, before.admin.cert);
  assert.notEqual(after.apiServer.cert, before.apiServer.cert);
  assert.deepEqual(after.virtApi, before.virtApi);
});

test('a damaged authority is reported, not replaced behind the back of every kubeconfig', async () => {
  const clock = new FakeClock();
  await ensurePki(pki, clock);
  await writeFile(join(pki, 'ca.key'), await readFile(join(pki, 'front-proxy-ca.key')));
  await assert.rejects(ensurePki(pki, clock), { name: 'UserError', code: 'PKI_DAMAGED' });
});
