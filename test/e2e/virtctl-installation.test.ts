/** What clients ask of an installation before they use it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

test('the KubeVirt object of an embedded cluster is there and true', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const kubeVirt = async () => JSON.parse(await cluster.must('kubectl', ['-n', 'kubevirt', 'get', 'kv', 'kubevirt', '-o', 'json']));

  await t.test('whoever waits for it is told at once', async () => {
    await cluster.must('kubectl', ['-n', 'kubevirt', 'wait', 'kv', 'kubevirt', '--for=condition=Available', '--timeout=60s']);
    const { status, metadata } = await kubeVirt();
    const conditions = Object.fromEntries(status.conditions.map((each: { type: string; status: string }) => [each.type, each.status]));
    assert.deepEqual(conditions, { Created: 'True', Available: 'True', Progressing: 'False', Degraded: 'False' });
    assert.deepEqual([status.phase, status.observedGeneration], ['Deployed', metadata.generation]);
    assert.match(await cluster.must('virtctl', ['version']), new RegExp(`Server Version: ${status.observedKubeVirtVersion}`));
  });

  await t.test('an edit of its configuration is observed, and a forged status is put right', async () => {
    const patch = { spec: { configuration: { developerConfiguration: { featureGates: ['Snapshot'] } } } };
    await cluster.must('kubectl', ['-n', 'kubevirt', 'patch', 'kv', 'kubevirt', '--type=merge', '-p', JSON.stringify(patch)]);
    const { metadata } = await kubeVirt();
    await cluster.must('kubectl', [
      ...[
        '-n',
        'kubevirt',
        'wait',
        'kv',
        'kubevirt',
        `--for=jsonpath={.status.observedGeneration}=${metadata.generation}`,
        '--timeout=60s',
      ],
    ]);
    await cluster.must('kubectl', [
      ...['-n', 'kubevirt', 'patch', 'kv', 'kubevirt', '--subresource=status', '--type=merge', '-p', '{"status":{"phase":"Deploying"}}'],
    ]);
    await cluster.must('kubectl', ['-n', 'kubevirt', 'wait', 'kv', 'kubevirt', '--for=jsonpath={.status.phase}=Deployed', '--timeout=60s']);
  });

  await t.test('a second one is refused', async () => {
    const second = { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'another', namespace: 'kubevirt' }, spec: {} };
    const { code, stderr } = await cluster.kubectl(['create', '-f', '-'], { input: JSON.stringify(second) });
    assert.equal(code, 1);
    assert.match(stderr, /the cluster has its KubeVirt already: kubevirt\/kubevirt/);
  });
});
