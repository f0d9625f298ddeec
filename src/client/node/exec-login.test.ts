import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { JsonObject } from '../../base/json.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { type ExecLoginOptions, execLogin } from './exec-login.ts';

const V1 = 'client.authentication.k8s.io/v1';
let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'exec-login-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that says its number, and of which it is known what it was told. */
function plugin(body: string): string {
  const path = join(folder, 'plugin');
  const count = 'echo "$@" >> calls; n=$(wc -l < calls); printenv KUBERNETES_EXEC_INFO > info';
  writeFileSync(path, `#!/bin/sh\ncd "\${0%/*}"\n${count}\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}
const says = (status: string, apiVersion = V1) =>
  `cat <<EOF\n{"apiVersion":"${apiVersion}","kind":"ExecCredential","status":${status}}\nEOF`;
const calls = () => readFileSync(join(folder, 'calls'), 'utf8').trimEnd().split('\n');
const info = () => JSON.parse(readFileSync(join(folder, 'info'), 'utf8')) as JsonObject;

function login(exec: JsonObject = {}, more: Partial<ExecLoginOptions> = {}) {
  const path = join(folder, 'config');
  const cluster = { server: 'https://one:6443', config: { audience: 'a' } };
  const entry = { apiVersion: V1, command: './plugin', interactiveMode: 'Never', ...exec };
  return execLogin({ exec: entry, path, cluster, isTerminal: false, ...more });
}

test('it is called beside the file, without a shell, with its variables, and once for many requests', async () => {
  plugin(says('{"token":"$SECRET-$n"}'));
  const { identity } = login({ args: ['get', '$(id); x'], env: [{ name: 'SECRET', value: 's' }] });
  assert.deepEqual(await Promise.all([identity(), identity()]), [{ token: 's-1' }, { token: 's-1' }]);
  assert.deepEqual(await identity(), { token: 's-1' });
  assert.deepEqual(calls(), ['get $(id); x']);
  assert.deepEqual(info(), { apiVersion: V1, kind: 'ExecCredential', spec: { interactive: false } });
});

test('it is told of the cluster where it asks for that, and v1beta1 is spoken too', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  plugin(says('{"clientCertificateData":"CERT","clientKeyData":"KEY"}', apiVersion));
  assert.deepEqual(await login({ apiVersion, provideClusterInfo: true }).identity(), { cert: 'CERT', key: 'KEY' });
  assert.deepEqual(info()['spec'], { cluster: { server: 'https://one:6443', config: { audience: 'a' } }, interactive: false });
});

test('what has expired or was refused is asked for again, by several at once only once', async () => {
  const clock = new FakeClock();
  plugin(says('{"token":"t$n","expirationTimestamp":"2026-01-01T01:00:00Z"}').replace('01:00', '0$n:00'));
  const { identity, refused } = login({}, { clock });
  const first = await identity();
  clock.advance(59 * 60_000);
  assert.equal(await identity(), first);
  clock.advance(60_000);
  assert.deepEqual(await Promise.all([identity(), identity()]), [{ token: 't2' }, { token: 't2' }]);
  refused(first); // long replaced
  assert.deepEqual(await identity(), { token: 't2' });
  refused(await identity());
  assert.deepEqual(await identity(), { token: 't3' });
});

const FAILURES: [name: string, body: string, why: RegExp][] = [
  ['that fails', 'exit 3', /ended with code 3/],
  ['that prints something else', 'echo secret', /printed no ExecCredential/],
  ['of another version', says('{"token":"secret"}', 'client.authentication.k8s.io/v1beta1'), /answered in .*v1beta1/],
  ['that says nobody', says('{}'), /neither a token nor/],
  ['with half of a pair', says('{"clientKeyData":"secret"}'), /only one of/],
  ['that prints without end', 'yes secret', /more than 262144 bytes/],
  ['that hangs', 'exec sleep 60', /did not end within 0.5 s/],
];
for (const [name, body, why] of FAILURES) {
  test(`a program ${name} is explained, without a secret, and asked again the next time`, async () => {
    plugin(body);
    const { identity } = login({}, { patienceMs: name === 'that hangs' ? 500 : 20_000 });
    await assert.rejects(identity, (error: { code?: string; why?: string; message: string }) => {
      assert.ok(!JSON.stringify([error, error.message]).includes('secret'));
      return error.code === 'LOGIN_FAILED' && why.test(error.why ?? '');
    });
    plugin(says('{"token":"later"}'));
    assert.deepEqual(await identity(), { token: 'later' });
  });
}

test('a program that is missing says how to install it', async () => {
  const { identity } = login({ command: 'no-such-plugin', installHint: 'install it with apt' });
  await assert.rejects(identity, { code: 'LOGIN_FAILED', why: 'there is no such program', fix: 'install it with apt' });
});

test('an entry that cannot be followed is refused before anything is called', () => {
  assert.throws(() => login({ apiVersion: 'client.authentication.k8s.io/v1alpha1' }), { code: 'KUBECONFIG_INVALID' });
  assert.throws(() => login({ command: '' }), { why: 'exec.command is missing' });
  assert.throws(() => login({ interactiveMode: 'Often' }), /kubeconfig/);
  assert.throws(() => login({ interactiveMode: 'Always' }), { code: 'LOGIN_FAILED', exitCode: 6 });
});
