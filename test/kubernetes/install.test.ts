import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../src/base/clock.ts';
import { VERSION } from '../../src/cmd/version.ts';
import { buildImages } from '../../tools/image/build-images.ts';
import type { RealCluster } from '../../tools/kubernetes/cluster.ts';
import * as patience from '../../tools/kubernetes/until.ts';
import { apply, kubectl } from './kubectl.ts';
import { nodesSkipReason } from './nodes-skip-reason.ts';
import { IMAGES, runInGuest, smallMachine, startClusterWithImages, virtctl } from './product-cluster.ts';
import { pushAs } from './push-images.ts';

/** A release of the same sources under another version: what an upgrade does must not depend on what else has changed. */
const PREVIOUS = { version: 'v0.0.9', tag: 'previous' } as const;
const REGISTRY = IMAGES[1];
const WEB = { namespace: 'default', name: 'web' } as const;

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
/** Kinds whose objects come and go without anybody's doing, or stay for a while after what they tell of. */
const NOT_COUNTED = /^(componentstatuses|events(\.events\.k8s\.io)?|leases\.coordination\.k8s\.io)$/;

describe('virtctl install and uninstall on a real Kubernetes', { skip: nodesSkipReason() }, () => {
  let cluster: RealCluster;
  let atFirst: string[];
  const inKubevirt = (...args: string[]) => kubectl(cluster, '-n', 'kubevirt', ...args);
  /** Every object of the cluster, every kind, and our marks on nodes. */
  const everything = async () => {
    const kinds = (await kubectl(cluster, 'api-resources', '--verbs=list', '-o', 'name'))
      .split('\n')
      .filter((kind) => !NOT_COUNTED.test(kind));
    const columns = 'custom-columns=K:.kind,N:.metadata.namespace,M:.metadata.name';
    const objects = await kubectl(cluster, 'get', kinds.join(), '-A', '--no-headers', '-o', columns);
    const marks = await kubectl(cluster, 'get', 'nodes', '-o', 'jsonpath={.items[*].metadata.labels}{.items[*].metadata.annotations}');
    const lines = objects.split('\n').map((line) => line.trim().replace(/ +/g, ' '));
    const ofOthers = lines.filter((line) => !line.endsWith(' kube-root-ca.crt')); // comes a moment after its namespace
    return [...kinds, ...ofOthers, ...(marks.match(/[a-z.]*kubevirt\.io\/[a-z-]+/g) ?? [])].sort();
  };
  const changedSinceFirst = async () => {
    const now = await everything();
    const isNotIn = (list: readonly string[]) => (line: string) => !list.includes(line);
    return { added: now.filter(isNotIn(atFirst)), removed: atFirst.filter(isNotIn(now)) };
  };
  const nothing = { added: [], removed: [] };
  /** Of every object of ours, by kind and name. */
  const versions = async () => {
    const columns = (version: string) => ['-o', `custom-columns=K:.kind,N:.metadata.name,V:.metadata.${version}`];
    const installed = (kinds: string, version: string) =>
      kubectl(cluster, 'get', kinds, '-A', '-l', 'app.kubernetes.io/managed-by=virt-operator', ...columns(version));
    const ours = await installed(`${CLUSTER_KINDS},secret,configmap,service,serviceaccount`, 'resourceVersion');
    // Kubernetes itself writes the status of these whenever a Pod of theirs is ready or is not.
    const shared = await installed('deployment,daemonset,pdb', 'generation');
    return [ours, shared, await inKubevirt('get', 'kv', ...columns('resourceVersion'))].join('\n');
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
    assert.deepEqual(await changedSinceFirst(), nothing);
  });

  const installed = () => inKubevirt('get', 'kv', 'kubevirt', '-o', 'jsonpath={.status.phase} {.status.observedKubeVirtVersion}');
  const install = (...args: string[]) => virtctl(cluster.kubeconfig, 'install', ...args);
  const ofPrevious = ['--registry', REGISTRY, '--tag', PREVIOUS.tag];

  test('a cluster without a node for it, or without its images, is told so, and the installation goes on by itself when they are there', async () => {
    await kubectl(cluster, 'cordon', 'node1');
    const nowhere = await install(...ofPrevious, '--timeout', '0.1');
    assert.equal(nowhere.code, 5, nowhere.stderr);
    assert.match(nowhere.stderr, /no node takes virt-operator: .*unschedulable.*uncordon one/s);
    await kubectl(cluster, 'uncordon', 'node1');
    const imageless = await install(...ofPrevious, '--timeout', '0.2');
    assert.equal(imageless.code, 5, imageless.stderr);
    assert.match(imageless.stderr, /the image images\.local\/kubevirt-ts\/kubevirt:previous cannot be pulled: push it there/);
    await pushPrevious();
    const { code, stderr } = await install(...ofPrevious);
    assert.equal(code, 0, stderr);
    assert.equal(await installed(), `Deployed ${PREVIOUS.version}`);
    assert.deepEqual(await Promise.all(['Available', 'Created', 'Progressing', 'Degraded'].map((type) => condition(type))), [
      'True',
      'True',
      'False',
      'False',
    ]);
  });

  async function pushPrevious(): Promise<void> {
    const registry = `http://${cluster.registry}`;
    await buildImages({ registry: REGISTRY, into: join(cluster.folder, 'previous'), push: registry, only: ['kubevirt'], ...PREVIOUS });
    await pushAs(cluster, `${REGISTRY}/virt-launcher:test`, `kubevirt-ts/virt-launcher:${PREVIOUS.tag}`);
  }

  /** What a guest is known by, from its Pod down to its kernel. */
  const guest = async () => ({
    instance: await kubectl(cluster, 'get', 'vmi', 'web', '-o', 'jsonpath={.metadata.uid}'),
    pod: await kubectl(cluster, 'get', 'pods', '-l', 'vm.kubevirt.io/name=web', '-o', 'jsonpath={.items[*].metadata.uid}'),
    launcher: await kubectl(cluster, 'get', 'pods', '-l', 'vm.kubevirt.io/name=web', '-o', 'jsonpath={.items[*].spec.containers[0].image}'),
    qemu: await cluster.exec('node1', ['sh', '-c', "grep -l 'guest=default_we[b]' /proc/[0-9]*/cmdline 2>/dev/null || true"]),
    boot: await runInGuest(cluster, WEB, 'cat /proc/sys/kernel/random/boot_id'),
  });
  const untilRunning = (name: string) =>
    kubectl(cluster, 'wait', `vm/${name}`, '--for=jsonpath={.status.printableStatus}=Running', '--timeout=240s');

  test('an upgrade touches no guest that runs; a guest that is started again has the new launcher', async () => {
    await apply(cluster, smallMachine('web'));
    await untilRunning('web');
    const before = await guest();
    assert.match(before.qemu, /^\/proc\/\d+\/cmdline\n$/);
    assert.equal(before.launcher, `${REGISTRY}/virt-launcher:${PREVIOUS.tag}`);
    const { code, stderr } = await install(...IMAGES);
    assert.equal(code, 0, stderr);
    assert.equal(await installed(), `Deployed ${VERSION}`);
    assert.deepEqual(await guest(), before);
    const restarted = await virtctl(cluster.kubeconfig, 'restart', 'web');
    assert.equal(restarted.code, 0, restarted.stderr);
    await until('there is another instance', async () => {
      const uid = await kubectl(cluster, 'get', 'vmi', 'web', '-o', 'jsonpath={.metadata.uid}');
      return uid !== '' && uid !== before.instance;
    });
    await untilRunning('web');
    const { launcher, boot } = await guest();
    assert.equal(launcher, `${REGISTRY}/virt-launcher:test`);
    assert.notEqual(boot, before.boot);
  });

  const why = async (name: string) => (await virtctl(cluster.kubeconfig, 'why', name)).stdout;

  test('a machine that no node takes says so, and starts by itself when one does', async () => {
    await kubectl(cluster, 'cordon', 'node1');
    await apply(cluster, passing('nowhere'));
    await kubectl(cluster, 'wait', 'vm/nowhere', '--for=jsonpath={.status.printableStatus}=ErrorUnschedulable', '--timeout=120s');
    assert.match(await why('nowhere'), /every node is closed to new machines.*kubectl uncordon node1/s);
    await kubectl(cluster, 'uncordon', 'node1');
    await untilRunning('nowhere');
    await kubectl(cluster, 'delete', 'vm', 'nowhere', '--timeout=180s');
  });

  test('without a default storage class installing says so, and so does a machine whose claim waits for one, until there is one', async () => {
    const isDefault = (value: boolean) =>
      kubectl(cluster, 'annotate', 'storageclass/local', `storageclass.kubernetes.io/is-default-class=${value}`, '--overwrite');
    await isDefault(false);
    const { code, stderr } = await install(...IMAGES);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /there is no default storage class/);
    const claim = {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: 'data', namespace: 'default' },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } },
    };
    await apply(cluster, claim, passing('keeper', 'data'));
    const told = 'jsonpath={.status.conditions[?(@.type=="Synchronized")].message}';
    await until('the machine says why it waits', async () =>
      /^PVC default\/data names no/.test(await kubectl(cluster, 'get', 'vm/keeper', '-o', told)),
    );
    assert.match(await why('keeper'), /names no storage class, and there is no default one.*is-default-class=true/s);
    await isDefault(true);
    await untilRunning('keeper');
    await kubectl(cluster, 'delete', 'vm/keeper', 'pvc/data', '--timeout=180s');
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
    assert.match(await runInGuest(cluster, WEB, 'uname'), /Linux/);
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
    await assert.rejects(
      kubectl(cluster, 'delete', 'crd', 'virtualmachines.kubevirt.io'),
      /stays while there are objects of it.*kubectl get/s,
    );
    await inKubevirt('delete', 'kv', 'kubevirt', '--wait=false');
    await until('the object says why it stays', async () => (await condition('Degraded', 'reason')) === 'WorkloadsExist');
    assert.match(await runInGuest(cluster, WEB, 'uname'), /Linux/);
  });

  test('uninstalling with the machines leaves nothing', async () => {
    const { code, stderr } = await virtctl(cluster.kubeconfig, 'uninstall', '--force');
    assert.equal(code, 0, stderr);
    await until('volumes of claims are gone', async () => (await kubectl(cluster, 'get', 'pv', '-o', 'name')) === '');
    assert.deepEqual(await changedSinceFirst(), nothing);
    assert.equal(await cluster.exec('node1', ['find', '/var/lib', '/run', '-maxdepth', '2', '-name', '*kubevirt*']), '');
  });
});

/** A machine that is cut off when it goes, with a disk on this claim. */
function passing(name: string, ...claims: readonly string[]): object {
  const { spec, ...rest } = smallMachine(name) as { spec: { template: { spec: MachineSpec } } }; // as it is written there
  const { domain, volumes } = spec.template.spec;
  const disks = [...domain.devices.disks, ...claims.map((claim) => ({ name: claim, disk: { bus: 'virtio' } }))];
  const ofClaims = claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } }));
  const domainWithDisks = { ...domain, devices: { ...domain.devices, disks } };
  const template = { spec: { terminationGracePeriodSeconds: 0, domain: domainWithDisks, volumes: [...volumes, ...ofClaims] } };
  return { ...rest, spec: { ...spec, template } };
}
type MachineSpec = { readonly domain: { readonly devices: { readonly disks: readonly object[] } }; readonly volumes: readonly object[] };
