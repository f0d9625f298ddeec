import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { FakeClock } from '../../testing/fake-clock.ts';
import { inClusterConfig } from './in-cluster.ts';

/** A Pod's folders, where an embedded Pod has them. */
function pod(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'in-cluster-'));
  t.after(() => rmSync(root, { recursive: true }));
  const folder = join(root, 'var/run/secrets/kubernetes.io/serviceaccount');
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  write('ca.crt', 'authority');
  write('namespace', 'kubevirt');
  write('token', 'first\n');
  const env = { CONTAINER_SANDBOX_MOUNT_POINT: root, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '443' };
  return { env, write, remove: () => rmSync(join(folder, 'token')) };
}

test('a Pod finds its API, its authority and its name', (t) => {
  const { server, ca, namespace, token } = inClusterConfig({ env: pod(t).env });
  assert.deepEqual(
    { server, ca, namespace, token },
    { server: 'https://[fd00::1]:443', ca: 'authority', namespace: 'kubevirt', token: 'first' },
  );
});

test('a token that was replaced is used within half a minute, and one that cannot be read leaves the last', (t) => {
  const { env, write, remove } = pod(t);
  const clock = new FakeClock();
  const cluster = inClusterConfig({ env, clock });
  write('token', 'second');
  assert.equal(cluster.token, 'first');
  clock.advance(30_000);
  assert.equal(cluster.token, 'second');
  remove();
  clock.advance(30_000);
  assert.equal(cluster.token, 'second');
});

test('outside of a Pod it says what to do', () => {
  assert.throws(() => inClusterConfig({ env: {} }), { code: 'NOT_IN_CLUSTER', fix: /with a kubeconfig/ });
});
