import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { CONFIG_MAPS } from '../../api/core/configmap.ts';
import { SERVICE_ACCOUNTS } from '../../api/core/service-account.ts';
import { silentLogger } from '../../base/log.ts';
import { newSigningKey } from '../../base/node/signing-key.ts';
import { keepTokensFresh } from './keep-tokens-fresh.ts';
import type { KubeletContext } from './kubelet-context.ts';
import { sh, testNode } from './node.testing.ts';

const MOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

test('a Pod finds its token, the authority and its namespace, and the token is renewed before it ends', async (t) => {
  const node = await testNode(t, { signingKey: newSigningKey() });
  const { client, server, rootDir } = node;
  await client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: 'default' } });
  const metadata = { name: 'kube-root-ca.crt', namespace: 'default' };
  await client.create(CONFIG_MAPS, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { 'ca.crt': 'OUR CA' } });
  node.start({ client: server.clientAs('system:node:n1', ['system:nodes']) });
  await node.run('one', { containers: [sh('sleep 60')] });
  const pod = await node.when('one', ({ status }) => status?.phase === 'Running');

  const folder = join(rootDir, 'pods', pod.metadata.uid ?? '', 'root/main', MOUNT);
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');
  assert.deepEqual([read('ca.crt'), read('namespace')], ['OUR CA', 'default']);
  const first = read('token');
  assert.equal(server.server.reviewToken(first)?.user, 'system:serviceaccount:default:default');
  assert.equal(statSync(join(folder, 'token')).mode & 0o777, 0o400);

  const lookAt = async (offsetMs: number) => {
    const stop = new AbortController();
    const clock = { now: () => Date.now() + offsetMs, sleep: async () => stop.abort() };
    const context = { rootDir, client, clock, signal: stop.signal, log: silentLogger, mayBecome: () => false };
    await keepTokensFresh({ context: context as unknown as KubeletContext, pods: { list: () => [pod] } });
    return read('token');
  };
  assert.equal(await lookAt(0.7 * 3607_000), first);
  const second = await lookAt(0.81 * 3607_000);
  assert.notEqual(second, first);
  assert.equal(server.server.reviewToken(second)?.user, 'system:serviceaccount:default:default');
});
