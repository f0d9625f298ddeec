import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { silentLogger } from '../../base/log.ts';
import { ask } from '../../control-plane/apiserver/transport/tls.testing.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { quiet, until } from '../../testing/until.ts';
import { startLivePki } from './live-pki.ts';
import { runEmbedded } from './run-embedded.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Ten months later a certificate of a year has less than two left. */
const TEN_MONTHS_MS = 310 * DAY_MS;

async function livePki(t: TestContext, clock: FakeClock) {
  const folder = mkdtempSync(join(tmpdir(), 'live-pki-'));
  const stop = new AbortController();
  t.after(() => {
    stop.abort();
    rmSync(folder, { recursive: true });
  });
  let renewals = 0;
  const { pki, onRenewed } = await startLivePki({ folder, clock, log: silentLogger, signal: stop.signal });
  onRenewed(() => {
    renewals += 1;
  }, stop.signal);
  const endOf = () => Date.parse(new X509Certificate(pki.apiServer.cert).validTo);
  return { pki, folder, endOf, renewals: () => renewals };
}

test('certificates are replaced while they are in use, before they end, by the same authorities', async (t) => {
  const clock = new FakeClock();
  const { pki, endOf, renewals } = await livePki(t, clock);
  const [first, { ca }] = [endOf(), pki];
  clock.advance(TEN_MONTHS_MS);
  await until(async () => renewals() === 1, 'new certificates');
  assert.ok(endOf() >= first + TEN_MONTHS_MS);
  assert.equal(pki.ca, ca);
});

test('certificates of a clock that was ahead are replaced when it is put right', async (t) => {
  const clock = new FakeClock();
  const { endOf, renewals } = await livePki(t, clock);
  const first = endOf();
  clock.advance(TEN_MONTHS_MS);
  await until(async () => renewals() === 1, 'those of the clock that is ahead');
  clock.jump(-TEN_MONTHS_MS);
  clock.advance(60_000);
  await until(async () => renewals() === 2, 'those of the clock that was put right');
  assert.ok(Math.abs(endOf() - first) < DAY_MS);
});

test('what cannot be renewed stays in use, and is tried again', async (t) => {
  const clock = new FakeClock();
  const { folder, endOf, renewals } = await livePki(t, clock);
  const first = endOf();
  const key = readFileSync(join(folder, 'kubevirt-ca.key'));
  writeFileSync(join(folder, 'kubevirt-ca.key'), '');
  clock.advance(TEN_MONTHS_MS);
  await quiet();
  assert.deepEqual([endOf(), renewals()], [first, 0]);
  writeFileSync(join(folder, 'kubevirt-ca.key'), key);
  await until(async () => {
    clock.advance(60_000);
    return renewals() === 1;
  }, 'new certificates');
});

test('an API server that is up for longer than its certificates last has others by then, as have virt-api and the kubeconfig', {
  timeout: 60_000,
}, async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'long-'));
  const clock = new FakeClock(Date.now());
  const stop = new AbortController();
  const options = { home, port: 0, nodes: 1, adopt: false, runsControllers: false, log: silentLogger, clock, signal: stop.signal };
  const { state, stopped } = await runEmbedded({ ...options, network: 'host' });
  t.after(async () => {
    stop.abort();
    await stopped;
    rmSync(home, { recursive: true });
  });
  const admin = () => {
    const { user } = JSON.parse(readFileSync(join(home, 'kubeconfig'), 'utf8')).users[0];
    return { cert: Buffer.from(user['client-certificate-data'], 'base64'), key: Buffer.from(user['client-key-data'], 'base64') };
  };
  const path = '/apis/discovery.k8s.io/v1/namespaces/kubevirt/endpointslices';
  const slices = await ask({ port: state.port, path, ...admin(), rejectUnauthorized: false });
  const virtApiPort: number = JSON.parse(slices.body).items[0].ports[0].port; // the API alone: there are no others
  const ends = async () => [await endOfServerAt(state.port), await endOfServerAt(virtApiPort), endOf(admin().cert)];
  const before = await ends();
  clock.advance(TEN_MONTHS_MS);
  await until(
    async () => (await ends()).every((end, index) => end >= (before[index] ?? 0) + TEN_MONTHS_MS),
    'certificates of the next year',
  );
});

function endOf(certificate: Buffer): number {
  return Date.parse(new X509Certificate(certificate).validTo);
}

/** Of the certificate that is shown to who connects now. */
function endOfServerAt(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(endOf(socket.getPeerCertificate().raw));
      socket.destroy();
    });
    socket.once('error', reject);
  });
}
