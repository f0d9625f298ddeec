/** Every manifest under examples/ goes in as it is, and the slips of the seeds are answered with what is wrong. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import type { KubeObject } from '../../src/api/meta.ts';
import { newSigningKey } from '../../src/base/node/signing-key.ts';
import { apply, applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer, type TestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLES = readdirSync(join(ROOT, 'examples'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.yaml'));
describe('examples', () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer();
    await applyManifests(server.client, join(ROOT, 'deploy/crds'), (object) => object);
    await apply(server.client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } });
  });
  after(() => server.close());

  /** As kubectl sends it: unknown fields are errors. */
  async function post(path: string, object: unknown, to = server): Promise<{ status: number; message?: string }> {
    const response = await to.fetch(`${path}?fieldValidation=Strict`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(object),
    });
    const { message } = (await response.json()) as { message?: string };
    return { status: response.status, message };
  }

  for (const file of EXAMPLES) {
    test(`${file} is accepted without an unknown field`, async () => {
      for (const object of objectsIn(`examples/${file}`)) {
        const { status, message } = await post(await collectionOf(server, object), object);
        assert.equal(status, 201, `${object.kind} ${object.metadata.name}: ${message}`);
      }
    });
  }

  test('kubectl apply -f examples/vmctl/ finds every account before the Pod that runs as it', async (t) => {
    const whole = await startTestServer({ signingKey: newSigningKey() });
    t.after(() => whole.close());
    await applyManifests(whole.client, join(ROOT, 'deploy/crds'), (object) => object);
    // kubectl takes the files of a folder by name.
    const files = EXAMPLES.filter((file) => file.startsWith('vmctl/')).sort();
    for (const object of files.flatMap((file) => objectsIn(`examples/${file}`))) {
      const { status, message } = await post(await collectionOf(whole, object), object, whole);
      assert.equal(status, 201, message);
    }
  });

  test('there is one of each kind', () => {
    const kinds = EXAMPLES.filter((file) => !file.includes('/')).flatMap((file) => objectsIn(`examples/${file}`).map(({ kind }) => kind));
    assert.deepEqual(kinds.sort(), KINDS.map(({ kind }) => kind).sort());
  });

  test('a singular path is answered with the plural', async () => {
    const response = await server.fetch('/apis/kubevirt.io/v1alpha2/namespaces/default/virtualmachine');
    assert.match(((await response.json()) as { message: string }).message, /the name of this resource is "virtualmachines"/);
  });

  test('a definition with spec.version is told that v1 has no such field', async () => {
    const names = { kind: 'Thing', plural: 'things', singular: 'thing' };
    const metadata = { name: 'things.example.org' };
    const spec = { scope: 'Namespaced', group: 'example.org', version: 'v1alpha2', names };
    const object = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata, spec };
    const { status, message } = await post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', object);
    assert.deepEqual([status, /unknown field "spec.version"/.test(message ?? '')], [400, true], message);
  });

  test('kind: Daemonset is told the kind', async () => {
    const object = { apiVersion: 'apps/v1', kind: 'Daemonset', metadata: { name: 'vmctl' }, spec: {} };
    const { message } = await post('/apis/apps/v1/namespaces/default/daemonsets', object);
    assert.equal(message, 'the kind (Daemonset) in the data does not match the expected kind (DaemonSet)');
  });

  test('serviceAccountName inside a container is named as unknown', async () => {
    const template = {
      metadata: { labels: { app: 'x' } },
      spec: { containers: [{ name: 'x', image: 'x', serviceAccountName: 'default' }] },
    };
    const spec = { selector: { matchLabels: { app: 'x' } }, template };
    const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'vmctl' }, spec };
    const { message } = await post('/apis/apps/v1/namespaces/default/deployments', object);
    assert.match(message ?? '', /unknown field "spec.template.spec.containers\[0\].serviceAccountName"/);
  });
});

function objectsIn(path: string): KubeObject[] {
  return parseAllDocuments(readFileSync(join(ROOT, path), 'utf8')).flatMap((document) => (document.toJS() as KubeObject | null) ?? []);
}

async function collectionOf(server: TestServer, { apiVersion, kind, metadata }: KubeObject): Promise<string> {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const { resources } = (await (await server.client.request(root)).json()) as {
    resources: { name: string; kind: string; namespaced: boolean }[];
  };
  const found = resources.find((each) => each.kind === kind && !each.name.includes('/'));
  assert.ok(found, `the API server does not know ${apiVersion} ${kind}`);
  return found.namespaced ? `${root}/namespaces/${metadata.namespace ?? 'default'}/${found.name}` : `${root}/${found.name}`;
}
