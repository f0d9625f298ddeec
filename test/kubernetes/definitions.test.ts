/** A real API server takes our definitions, and every example as kubectl sends it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { CRDS } from '../../src/api/kubevirt/crds.ts';
import { type Client, createClient } from '../../src/client/client.ts';
import { createTlsFetch } from '../../src/client/node/tls-fetch.ts';
import { apply, applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { RealApiServer } from '../../tools/kubernetes/api-server.ts';

const ROOT = join(import.meta.dirname, '../..');
type Definition = { status?: { conditions?: readonly { type: string; status: string; message?: string }[] } };

describe('a real API server', () => {
  let server: RealApiServer;
  let client: Client;
  before(async () => {
    server = await RealApiServer.start();
    client = createClient({ fetch: strict(createTlsFetch(server.cluster)), baseUrl: server.cluster.server, userAgent: 'test' });
  });
  after(() => server[Symbol.asyncDispose]());

  test('takes the definitions and finds nothing in them that is not structural', async () => {
    await applyManifests(client, join(ROOT, 'deploy/crds'), (object) => object);
    for (const { metadata } of CRDS) {
      const conditions = await untilEstablished(client, metadata.name);
      assert.deepEqual(
        conditions.filter(({ type }) => type === 'NonStructuralSchema'),
        [],
        metadata.name,
      );
    }
  });

  test('takes every example without an unknown field', async () => {
    await apply(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } });
    await applyManifests(client, join(ROOT, 'examples'), (object) => ({
      ...object,
      metadata: { namespace: 'default', ...object.metadata },
    }));
  });
});

/** Unknown fields are errors, as kubectl asks for. */
function strict(fetch: (request: Request) => Promise<Response>): (request: Request) => Promise<Response> {
  return (request) => {
    const url = new URL(request.url);
    if (request.method !== 'GET') url.searchParams.set('fieldValidation', 'Strict');
    return fetch(new Request(url, request));
  };
}

/** Asks again until the kind is served; the test runner's patience is the limit. */
async function untilEstablished(client: Client, name: string): Promise<readonly { type: string; status: string }[]> {
  for (;;) {
    const response = await client.request(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`);
    const conditions = ((await response.json()) as Definition).status?.conditions ?? [];
    if (conditions.some(({ type, status }) => type === 'Established' && status === 'True')) return conditions;
  }
}
