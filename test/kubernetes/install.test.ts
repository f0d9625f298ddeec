import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { VERSION } from '../../src/cmd/version.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import * as patience from '../../tools/kubernetes/until.ts';
import { apply, kubectl } from './kubectl.ts';
import { IMAGES, runInGuest, smallMachine, startClusterWithImages, virtctl } from './product-cluster.ts';
import { whyNoNodes } from './why-no-nodes.ts';

const CLUSTER_KINDS = [
  'crd',
  'clusterrole',
  'clusterrolebinding',
  'apiservice',
  'priorityclass',
  'mutatingwebhookconfiguration',
  'validatingwebhookconfiguration',
  'namespace',
  'role',
  'rolebinding',
].join();
describe('virtctl install and uninstall on a real Kubernetes', { skip: whyNoNodes() }, () => {
  let cluster: RealCluster;
  let atFirst: string[];
  const inKubevirt = (...args: string[]) => kubectl(cluster, '-n', 'kubevirt', ...args);
  const everything = async () => {
    const objects = await kubectl(
      cluster,
      'get',
      CLUSTER_KINDS,
      '-A',
      '--no-headers',
      '-o',
      'custom-columns=K:.kind,N:.metadata.namespace,M:.metadata.name',
    );
    const kinds = await kubectl(cluster, 'api-resources', '-o', 'name');
    const marks = await kubectl(cluster, 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.labels}{.items[*].metadata.annotations}');
    return [...objects.split('\n'), ...kinds.split('\n'), ...(marks.match(/[a-z.]*kubevirt\.io\/[a-z-]+/g) ?? [])]
      .map((line) => line.trim())
      .sort();
  };
  /** Of every object of ours, by kind and name. */
  const versions = async () => {
    const kinds = `${CLUSTER_KINDS},deployment,daemonset,secret,configmap,service,pdb,serviceaccount`;
    const columns = ['-o', 'custom-columns=K:.kind,N:.metadata.name,V:.metadata.resourceVersion'];
    const installed = await kubectl(cluster, 'get', kinds, '-A', '-l', 'app.kubernetes.io/managed-by=virt-operator', ...columns);
    return `${installed}\n${await inKubevirt('get', 'kv', ...columns)}`;
  };
  const condition = (type: string, field = 'status') =>
    inKubevirt('get', 'kv', 'kubevirt', '-o', `jsonpath={.status.conditions[?(@.type=="${type}")].${field}}`);

  /** What cannot be asked right now is not so yet. */
  const until = (what: string, isTrue: () => Promise<boolean>) => patience.until(what, () => isTrue().catch(() => false));

  before(async () => {
    cluster = await startClusterWithImages({ name: `install-${process.pid}` });
    atFirst = await everything();
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test('somebody without the rights is told which are missing, and nothing is changed', async () => {
    await kubectl(cluster, 'create', 'serviceaccount', 'nobody');
    const token = await kubectl(cluster, 'create', 'token', 'nobody');
    const kubeconfig = join(cluster.folder, 'nobody.kubeconfig');
    for (const args of [
      ['set-cluster', 'real', `--server=${cluster.plan.server}`, `--certificate-authority=${join(cluster.folder, 'pki/ca.crt')}`],
      ['set-credentials', 'nobody', `--token=${token}`],
      ['set-context', 'nobody', '--cluster=real', '--user=nobody'],
      ['use-context', 'nobody'],
    ])
      await kubectl(cluster, 'config', `--kubeconfig=${kubeconfig}`, ...args);
    await kubectl(cluster, 'create', 'clusterrole', 'looks', '--verb=list', '--resource=nodes');
    await kubectl(cluster, 'create', 'clusterrolebinding', 'looks', '--clusterrole=looks', '--serviceaccount=default:nobody');
    const { code, stderr } = await virtctl(kubeconfig, 'install');
    assert.equal(code, 6, stderr);
    assert.match(stderr, /create customresourcedefinitions\.apiextensions\.k8s\.io.*create deployments\.apps/s);
    await kubectl(cluster, 'delete', 'clusterrolebinding/looks', 'clusterrole/looks', 'serviceaccount/nobody');
    assert.deepEqual(await everything(), atFirst);
  });

  test('an image that cannot be pulled is named, and the installation goes on when the right one is named', async () => {
    const { code, stderr } = await virtctl(cluster.kubeconfig, 'install', '--registry', 'images.local/nothing', '--timeout', '0.2');
    assert.equal(code, 5, stderr);
    assert.match(stderr, new RegExp(`images\\.local/nothing/kubevirt:${VERSION.replaceAll('.', '\\.')}`));
    const again = await virtctl(cluster.kubeconfig, 'install', ...IMAGES);
    assert.equal(again.code, 0, again.stderr);
    assert.equal(
      await inKubevirt('get', 'kv', 'kubevirt', '-o', 'jsonpath={.status.phase} {.status.observedKubeVirtVersion}'),
      `Deployed ${VERSION}`,
    );
    assert.deepEqual(await Promise.all(['Available', 'Created', 'Progressing', 'Degraded'].map((type) => condition(type))), [
      'True',
      'True',
      'False',
      'False',
    ]);
  });

  test('a machine boots', async () => {
    await apply(cluster, smallMachine('web'));
    await kubectl(cluster, 'wait', 'vm/web', '--for=jsonpath={.status.printableStatus}=Running', '--timeout=180s');
    assert.match(await runInGuest(cluster, { namespace: 'default', name: 'web' }, 'uname'), /Linux/);
  });

  test('what somebody deletes or changes comes back', async () => {
    await inKubevirt('delete', 'deployment/virt-controller', 'secret/kubevirt-virt-handler-certs', 'service/virt-api');
    await kubectl(cluster, 'delete', 'clusterrole/kubevirt-handler', 'validatingwebhookconfiguration/virt-api-validator');
    await inKubevirt('set', 'image', 'daemonset/virt-handler', 'virt-handler=images.local/busybox:1');
    const spec = (what: string) => inKubevirt('get', what, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    const image = await spec('deployment/virt-api');
    await until('all is there again', async () => {
      await kubectl(cluster, 'get', 'clusterrole/kubevirt-handler', 'validatingwebhookconfiguration/virt-api-validator');
      await inKubevirt('get', 'secret/kubevirt-virt-handler-certs', 'service/virt-api');
      return (await spec('daemonset/virt-handler')) === image && (await spec('deployment/virt-controller')) === image;
    });
    await until('all works again', async () => (await condition('Degraded')) === 'False' && (await condition('Available')) === 'True');
    assert.match(await runInGuest(cluster, { namespace: 'default', name: 'web' }, 'uname'), /Linux/);
  });

  test('the configuration is followed: one replica, and a budget that would stop every drain is gone', async () => {
    await inKubevirt('patch', 'kv', 'kubevirt', '--type=merge', '-p', '{"spec":{"infra":{"replicas":1}}}');
    await until('one virt-api', async () => (await inKubevirt('get', 'deployment/virt-api', '-o', 'jsonpath={.status.replicas}')) === '1');
    await until('no budgets', async () => (await inKubevirt('get', 'pdb', '-o', 'name')) === '');
    await inKubevirt('patch', 'kv', 'kubevirt', '--type=json', '-p', '[{"op":"remove","path":"/spec/infra"}]');
    await until(
      'two again',
      async () => (await inKubevirt('get', 'deployment/virt-api', '-o', 'jsonpath={.status.availableReplicas}')) === '2',
    );
    await until('ready', async () => (await condition('Progressing')) === 'False' && (await condition('Degraded')) === 'False');
  });

  test('at rest nothing is written', async () => {
    const atRest = await versions();
    assert.ok(atRest.split('\n').length > 30, atRest);
    await systemClock.sleep(30_000); // the length of the rest: a fault would write at once, or at each heartbeat
    assert.equal(await versions(), atRest);
  });

  test('uninstalling is refused while there is a machine, which is named', async () => {
    const { code, stderr } = await virtctl(cluster.kubeconfig, 'uninstall');
    assert.equal(code, 4, stderr);
    assert.match(stderr, /VirtualMachine default\/web/);
    await inKubevirt('delete', 'kv', 'kubevirt', '--wait=false');
    await until('the object says why it stays', async () => (await condition('Degraded', 'reason')) === 'WorkloadsExist');
    assert.match(await runInGuest(cluster, { namespace: 'default', name: 'web' }, 'uname'), /Linux/);
  });

  test('uninstalling with the machines leaves nothing', async () => {
    const { code, stderr } = await virtctl(cluster.kubeconfig, 'uninstall', '--force');
    assert.equal(code, 0, stderr);
    assert.deepEqual(await everything(), atFirst);
    assert.equal(await kubectl(cluster, 'get', 'pods', '-A', '-l', 'kubevirt.io', '-o', 'name'), '');
  });
});
