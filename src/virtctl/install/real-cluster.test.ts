import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '../../client/client.ts';
import { requireRealCluster } from './real-cluster.ts';

/** A server that says this version, and has one node. */
function server(version: { gitVersion: string; gitCommit: string }) {
  const answers: Record<string, object> = { '/version': version, '/api/v1/nodes': { metadata: {}, items: [{ metadata: { name: 'n' } }] } };
  const fetch = async (request: Request) => Response.json(answers[new URL(request.url).pathname] ?? {});
  return createClient({ fetch, baseUrl: 'https://server', userAgent: 'test' });
}

test('a cluster that is new enough is told by its version and its nodes', async () => {
  assert.equal(await requireRealCluster(server({ gitVersion: 'v1.34.4', gitCommit: 'abc' })), 'Kubernetes v1.34.4, 1 node');
});

test('one that is too old is refused with the version that it takes', async () => {
  await assert.rejects(requireRealCluster(server({ gitVersion: 'v1.27.9', gitCommit: 'abc' })), {
    code: 'UNSUPPORTED_KUBERNETES',
    why: 'this cluster runs Kubernetes v1.27.9; 1.28 is the oldest that is supported: upgrade the cluster',
  });
});

test('an embedded one is refused: everything is in it', async () => {
  await assert.rejects(requireRealCluster(server({ gitVersion: 'v1.34.0', gitCommit: 'kubevirt-ts' })), { code: 'EMBEDDED_CLUSTER' });
});
