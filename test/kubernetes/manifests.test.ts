import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { RealApiServer } from '../../tools/kubernetes/api-server.ts';
import { ensureKubernetes } from '../../tools/kubernetes/build.ts';
import { run } from '../e2e/harness.ts';
import { kubernetesSkipReason } from './kubernetes-skip-reason.ts';

describe('a real Kubernetes takes our manifests as they are', { skip: kubernetesSkipReason() }, () => {
  let server: RealApiServer;
  const kubectl = (...args: string[]) =>
    run(join(ensureKubernetes(), 'kubectl'), args, { env: { KUBECONFIG: server.kubeconfig, KUBECACHEDIR: join(server.folder, 'cache') } });
  before(async () => {
    server = await RealApiServer.start();
  });
  after(async () => {
    await server?.[Symbol.asyncDispose]();
  });

  test('the CRDs are structural and are established', async () => {
    const applied = await kubectl('apply', '-f', 'deploy/namespace.yaml', '-f', 'deploy/crds');
    assert.equal(applied.code, 0, applied.stderr);
    const { code, stderr } = await kubectl('wait', 'crd', '--all', '--for=condition=Established', '--timeout=20s');
    assert.equal(code, 0, stderr);
    const shown = await kubectl('get', 'crd', '-o', 'jsonpath={.items[*].status.conditions[?(@.type=="NonStructuralSchema")].message}');
    assert.equal(shown.stdout, '');
  });

  for (const folder of ['examples', 'examples/seeds']) {
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.yaml'))) {
      test(`${folder}/${file}`, async () => {
        const { code, stderr } = await kubectl('apply', '--dry-run=server', '--validate=strict', '-f', join(folder, file));
        assert.equal(code, 0, stderr);
      });
    }
  }

  test('every other manifest of an installation is accepted, and unchanged when applied again', async () => {
    const first = await kubectl('apply', '-f', 'deploy');
    assert.equal(first.code, 0, first.stderr);
    const again = await kubectl('apply', '-f', 'deploy');
    assert.deepEqual(
      again.stdout.split('\n').filter((line) => line !== '' && !line.endsWith(' unchanged')),
      [],
    );
  });
});
