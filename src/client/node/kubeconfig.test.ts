import assert from 'node:assert/strict';
import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { loadKubeconfig, writeKubeconfig } from './kubeconfig.ts';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeconfig-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const written = { name: 'kubevirt-ts', server: 'https://127.0.0.1:6443', namespace: 'default', ca: 'CA', cert: 'CERT', key: 'KEY' };
const { name: context, ...rest } = written;
const loaded = { context, ...rest, tlsServerName: undefined, insecureSkipTlsVerify: false, token: undefined };

test('what is written is what is loaded, and only the owner can read it', async () => {
  const path = join(folder, 'config');
  await writeKubeconfig(path, written);
  assert.deepEqual(loadKubeconfig(path), loaded);
  assert.deepEqual(loadKubeconfig(undefined, { env: { KUBECONFIG: path } }), loaded);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

const YAML = `
apiVersion: v1
kind: Config
current-context: b
clusters:
  - name: one
    cluster: { server: "https://one:6443", certificate-authority: ca.crt, tls-server-name: kubernetes }
contexts:
  - { name: a, context: { cluster: one, user: alice } }
  - { name: b, context: { cluster: one, user: bob, namespace: vms } }
users:
  - { name: alice, user: { token: secret } }
  - { name: bob, user: { tokenFile: token } }
  - { name: carl, user: { auth-provider: { name: oidc } } }
  - { name: dora, user: { exec: { apiVersion: client.authentication.k8s.io/v1, command: login } } }
`;

test('YAML of others is understood: files beside it, tokens, other contexts', async () => {
  const path = join(folder, 'config');
  await writeFile(path, YAML);
  await writeFile(join(folder, 'ca.crt'), 'CA');
  await writeFile(join(folder, 'token'), 'from-file\n');
  const { context, server, namespace, ca, token, tlsServerName } = loadKubeconfig(path);
  assert.deepEqual(
    [context, server, namespace, ca, token, tlsServerName],
    ['b', 'https://one:6443', 'vms', 'CA', 'from-file', 'kubernetes'],
  );
  assert.equal(loadKubeconfig(path, { context: 'a' }).token, 'secret');
});

test('a user who logs in through a program has a login, and no file is read for that', async () => {
  const path = join(folder, 'config');
  await writeFile(path, YAML.replace('user: bob', 'user: dora').replace('certificate-authority: ca.crt, ', ''));
  const { login, token } = loadKubeconfig(path);
  assert.deepEqual([typeof login?.identity, token], ['function', undefined]);
});

test('several files are joined and missing ones passed over', async () => {
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  await writeFile(first, 'current-context: a\nclusters: null\n');
  await writeFile(second, YAML.replace('certificate-authority: ca.crt, ', ''));
  assert.equal(loadKubeconfig([first, join(folder, 'missing'), second].join(':')).token, 'secret');
});

const faults: [string, string, RegExp][] = [
  ['a context that is not there', YAML.replace('current-context: b', 'current-context: x'), /no context x/],
  ['no chosen context', YAML.replace('current-context: b', ''), /no context is chosen/],
  ['an auth-provider', YAML.replace('user: bob', 'user: carl').replace('certificate-authority: ca.crt, ', ''), /auth-provider/],
  ['a proxy', YAML.replace('certificate-authority: ca.crt', 'proxy-url: "http://proxy:3128"'), /proxy-url .*http:..proxy:3128/],
  ['text that is not YAML', 'a: [', /./],
];
for (const [name, text, why] of faults) {
  test(`${name} is explained`, async () => {
    const path = join(folder, 'config');
    await writeFile(path, text);
    assert.throws(
      () => loadKubeconfig(path),
      (error: { code?: string; why?: string }) => error.code === 'KUBECONFIG_INVALID' && why.test(error.why ?? ''),
    );
  });
}

test('a missing file is a mistake that can be fixed', () => {
  assert.throws(() => loadKubeconfig(join(folder, 'none')), { name: 'UserError', code: 'KUBECONFIG_MISSING' });
});
