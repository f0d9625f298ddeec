/** A chart of several kinds by a real Helm: installed, upgraded, rolled back and uninstalled, embedded and on a real Kubernetes. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { addBusybox, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import { ensureHelm, helmSkipReason } from '../../tools/helm/build.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { EmbeddedCluster, run } from './harness.ts';

const CHART = join(import.meta.dirname, 'chart');
const isReal = process.env['E2E_REAL_CLUSTER'] !== undefined;
const WAITING = ['--wait', '--timeout', '200s'];

test('Helm installs, upgrades, rolls back and uninstalls a chart', {
  skip: helmSkipReason() || (!isReal && skipContainers()),
}, async (t) => {
  const program = ensureHelm();
  await using cluster = await EmbeddedCluster.start();
  if (!isReal) await addBusybox(join(cluster.home, 'images'), { reference: BUSYBOX_IMAGE });
  const env = {
    KUBECONFIG: join(cluster.home, 'kubeconfig'),
    HELM_CACHE_HOME: cluster.home,
    HELM_CONFIG_HOME: cluster.home,
    HELM_DATA_HOME: cluster.home,
  };
  const asked = (...args: string[]) => run(program, ['--namespace', cluster.namespace, ...args], { env });
  const helm = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await asked(...args);
    assert.equal(code, 0, `helm ${args.join(' ')}\n${stdout}${stderr}`);
    return stdout;
  };
  const kubectl = (...args: string[]) => cluster.must('kubectl', args);
  const seen = async () => ({
    text: await cluster.field('configmap', 'web', '.data.text'),
    replicas: await cluster.field('deployment', 'web', '.status.readyReplicas'),
    said: await kubectl('logs', 'deployment/web'),
    kinds: (await kubectl('get', 'sa,cm,svc,deploy', '-l', 'app.kubernetes.io/instance=web', '-o', 'name')).trim().split('\n').sort(),
  });
  const KINDS = ['configmap/web', 'deployment.apps/web', 'service/web', 'serviceaccount/web'];
  const history = async () =>
    JSON.parse(await helm('history', 'web', '-o', 'json')).map(({ revision, status }: { revision: number; status: string }) => [
      revision,
      status,
    ]);

  await t.test('installed, it is ready when Helm says so, and its hook has run', async () => {
    assert.match(await helm('install', 'web', CHART, ...WAITING), /STATUS: deployed/);
    assert.deepEqual(await seen(), { text: 'one', replicas: '2', said: 'one\n', kinds: KINDS });
  });

  await t.test('upgraded, its Pods are replaced', async () => {
    await helm('upgrade', 'web', CHART, '--set', 'text=two,replicas=1', ...WAITING);
    assert.deepEqual(await seen(), { text: 'two', replicas: '1', said: 'two\n', kinds: KINDS });
    assert.deepEqual(await history(), [
      [1, 'superseded'],
      [2, 'deployed'],
    ]);
  });

  await t.test('an upgrade that the API server refuses says why, and changes nothing', async () => {
    const { code, stderr } = await asked('upgrade', 'web', CHART, '--set', 'replicas=-1', ...WAITING);
    assert.equal(code, 1);
    assert.match(stderr, /spec\.replicas: Invalid value: -1: must be greater than or equal to 0/);
    assert.equal((await seen()).replicas, '1');
  });

  await t.test('rolled back, it is as it was', async () => {
    await helm('rollback', 'web', '1', ...WAITING);
    assert.deepEqual(await seen(), { text: 'one', replicas: '2', said: 'one\n', kinds: KINDS });
    assert.deepEqual(await history(), [
      [1, 'superseded'],
      [2, 'superseded'],
      [3, 'failed'],
      [4, 'deployed'],
    ]);
  });

  await t.test('uninstalled, nothing is left', async () => {
    await helm('uninstall', 'web', ...WAITING);
    await kubectl('wait', 'pods', '-l', 'app.kubernetes.io/instance=web', '--for=delete', '--timeout=100s'); // they go after their Deployment
    assert.equal(await kubectl('get', 'sa,cm,svc,deploy,pods,jobs', '-l', 'app.kubernetes.io/instance=web', '-o', 'name'), '');
    assert.equal(await kubectl('get', 'secrets', '-l', 'owner=helm', '-o', 'name'), '');
  });
});
