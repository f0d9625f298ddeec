import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { NODES } from '../../../src/api/core/node.ts';
import { PODS, type Pod } from '../../../src/api/core/pod.ts';
import { RealCluster } from '../../../tools/kubernetes/cluster.ts';
import { apply, askFromPod, claim, kubectl, podWithClaims, untilReady, webPod, webPodSpec } from '../kubectl.ts';
import { nodesSkipReason } from '../nodes-skip-reason.ts';

const NODE_NAMES = ['node1', 'node2', 'node3'];

describe('a real Kubernetes of three nodes', { skip: nodesSkipReason() }, () => {
  let cluster: RealCluster;
  before(async () => {
    cluster = await RealCluster.start({ name: `nodes-${process.pid}`, nodes: 3 });
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  const pod = async (name: string): Promise<Pod> => {
    const found = await cluster.client.get(PODS, { namespace: 'default', name });
    assert.ok(found, `there is no Pod ${name}`);
    return found;
  };
  const addressOf = async (name: string) => (await pod(name)).status?.podIP ?? '';

  test('each node says its version', async () => {
    const { items } = await cluster.client.list(NODES);
    assert.deepEqual(
      items.map(({ metadata, status }) => [metadata.name, status?.nodeInfo?.kubeletVersion]),
      NODE_NAMES.map((name) => [name, 'v1.34.4']),
    );
  });

  test('a Pod on each node reaches the one on the next by its address', async () => {
    await apply(cluster, ...NODE_NAMES.map((nodeName) => webPod(`web-${nodeName}`, { nodeName })));
    await untilReady(cluster, ...NODE_NAMES.map((name) => `web-${name}`));
    for (const [index, name] of NODE_NAMES.entries()) {
      const next = `web-${NODE_NAMES[(index + 1) % 3]}`;
      assert.match(await askFromPod(cluster, `web-${name}`, await addressOf(next)), new RegExp(`I am ${next}`));
    }
  });

  test('a Service is reached from Pods of other nodes, from its own Pod and from the machine', async () => {
    await kubectl(cluster, 'expose', 'pod', 'web-node2', '--name=web', '--port=80');
    const address = await kubectl(cluster, 'get', 'service', 'web', '-o', 'jsonpath={.spec.clusterIP}');
    const fromMachine = await eventually(() => fetch(`http://${address}/`, { signal: AbortSignal.timeout(5000) }).then((it) => it.text()));
    assert.equal(fromMachine, 'I am web-node2\n');
    for (const name of ['web-node3', 'web-node2'])
      assert.match(await eventually(() => askFromPod(cluster, name, address)), /I am web-node2/);
  });

  test('logs, exec and port-forward work', async () => {
    assert.equal(await kubectl(cluster, 'logs', 'web-node3'), 'started');
    assert.equal(await kubectl(cluster, 'exec', 'web-node3', '--', 'hostname'), 'web-node3');
    const forward = spawn(join(cluster.programs, 'kubectl'), ['port-forward', 'pod/web-node3', ':80'], {
      env: { ...process.env, KUBECONFIG: cluster.kubeconfig },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    try {
      const [line] = await once(createInterface(forward.stdout), 'line');
      const port = /127\.0\.0\.1:(\d+)/.exec(line)?.[1];
      assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'I am web-node3\n');
    } finally {
      forward.kill();
      await once(forward, 'exit');
    }
  });

  test('names of Services are resolved, those of the world are not', async () => {
    const names = (name: string) => kubectl(cluster, 'exec', 'web-node1', '--', 'nslookup', name);
    assert.match(
      await names('kubernetes.default.svc.cluster.local'),
      new RegExp(cluster.plan.kubernetesServiceAddress.replaceAll('.', '\\.')),
    );
    assert.match(await askFromPod(cluster, 'web-node1', 'web'), /I am web-node2/);
    await assert.rejects(names('example.com'), (error: { stdout?: string }) => /NXDOMAIN/.test(error.stdout ?? ''));
  });

  test('claims of the default class get folders and devices, which all nodes share, and which go with the claim', async () => {
    const claims = { files: 'Filesystem', disk: 'Block' } as const;
    await apply(cluster, claim('files'), claim('disk', { volumeMode: 'Block' }));
    await apply(cluster, podWithClaims('writer', claims, { nodeName: 'node1' }), podWithClaims('reader', claims, { nodeName: 'node3' }));
    await untilReady(cluster, 'writer', 'reader');
    const shell = (name: string, script: string) => kubectl(cluster, 'exec', name, '--', 'sh', '-c', script);
    await shell('writer', 'echo of files >/files/word && echo of disk | dd of=/dev/disk conv=notrunc,fsync');
    assert.equal(await shell('reader', 'cat /files/word && head -n 1 /dev/disk'), 'of files\nof disk');
    await kubectl(cluster, 'delete', 'pod/writer', 'pod/reader', 'pvc/files', 'pvc/disk');
    await eventually(async () => assert.equal(await kubectl(cluster, 'get', 'pv', '-o', 'name'), ''));
    assert.deepEqual(readdirSync(join(cluster.folder, 'volumes')), []);
    assert.deepEqual(readdirSync(join(cluster.folder, 'devices')), []);
  });

  test('an image in the registry is pulled under the name of whatever registry', async () => {
    const push = ['ctr', '-n', 'k8s.io', 'images', 'push', '--plain-http', `${cluster.registry}/demo/shell:1`, 'images.local/busybox:1'];
    await cluster.exec('node1', push);
    for (const registry of ['quay.io', 'registry.example.com:5000', cluster.registry]) {
      const name = `pulled-${registry.replaceAll(/[.:]/g, '-')}`;
      await kubectl(cluster, 'run', name, `--image=${registry}/demo/shell:1`, '--overrides={"spec":{"nodeName":"node2"}}');
      await untilReady(cluster, name);
      await kubectl(cluster, 'delete', 'pod', name, '--grace-period=0', '--force');
    }
  });

  test('an image that is not there is refused at once', async () => {
    await kubectl(cluster, 'run', 'missing', '--image=docker.io/library/nothing:1');
    const reason = await eventually(async () => {
      const [status] = (await pod('missing')).status?.containerStatuses ?? [];
      assert.match(status?.state?.waiting?.reason ?? '', /ErrImagePull|ImagePullBackOff/);
      return status?.state?.waiting?.message;
    });
    assert.match(reason ?? '', /nothing:1/);
    await kubectl(cluster, 'delete', 'pod', 'missing', '--grace-period=0', '--force');
  });

  test('a drained node is empty, and what was on it runs elsewhere', async () => {
    const template = {
      metadata: { labels: { app: 'moving' } },
      spec: webPodSpec('moving', { nodeSelector: { 'kubernetes.io/os': 'linux' } }),
    };
    const spec = { replicas: 3, selector: { matchLabels: { app: 'moving' } }, template };
    await apply(cluster, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'moving' }, spec });
    const rolledOut = () => kubectl(cluster, 'rollout', 'status', 'deployment/moving', '--timeout=400s');
    await rolledOut();
    await kubectl(cluster, 'drain', 'node3', '--force', '--ignore-daemonsets', '--timeout=400s');
    await rolledOut();
    const { items } = await cluster.client.list(PODS, { namespace: 'default', fieldSelector: 'spec.nodeName=node3' });
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      [],
    );
    await kubectl(cluster, 'uncordon', 'node3');
    await kubectl(cluster, 'delete', 'deployment', 'moving');
  });

  test('a Pod lives through restarts of kubelet and containerd', async () => {
    const first = (await pod('web-node2')).status?.containerStatuses?.[0]?.containerID;
    await cluster.restart('node2', 'containerd');
    await cluster.restart('node2', 'kubelet');
    assert.equal(await eventually(() => kubectl(cluster, 'exec', 'web-node2', '--', 'cat', '/tmp/www/index.html')), 'I am web-node2');
    const { containerID, restartCount } = (await pod('web-node2')).status?.containerStatuses?.[0] ?? {};
    assert.deepEqual([containerID, restartCount], [first, 0]);
  });

  test('a program that is held does not come back before it is released', async () => {
    // One that has ended and waits for its parent to notice has no file any more.
    const script = 'for p in /proc/[0-9]*; do test -e $p/exe && cat $p/comm; done | grep -c ^kube-proxy || :';
    const running = () => cluster.exec('node1', ['sh', '-c', script]);
    await cluster.hold('node1', 'kube-proxy');
    assert.equal(await running(), '0\n');
    cluster.release('node1', 'kube-proxy');
    await eventually(async () => assert.equal(await running(), '1\n'));
  });

  test('the API server goes and comes back with everything in it', async () => {
    await cluster.stop('kube-apiserver');
    await assert.rejects(cluster.client.request('/readyz'));
    await cluster.startAgain('kube-apiserver');
    assert.equal((await pod('web-node2')).metadata.name, 'web-node2');
  });

  test('a node that crashes is not Ready, and is Ready with its Pods after a reboot', async () => {
    await cluster.crashNode('node2');
    await assert.rejects(fetch(`http://${await addressOf('web-node2')}/`, { signal: AbortSignal.timeout(2000) }));
    await cluster.untilNotReady('node2');
    await cluster.rebootNode('node2');
    await cluster.untilReady();
    await eventually(async () => {
      const answer = await fetch(`http://${await addressOf('web-node2')}/`, { signal: AbortSignal.timeout(2000) });
      assert.equal(await answer.text(), 'I am web-node2\n');
    });
  });
});

/** Things that follow from what was done, but not at once. */
async function eventually<T>(ask: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + 120_000;
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
