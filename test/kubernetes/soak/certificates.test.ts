import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '../../../src/base/clock.ts';
import type { RealCluster } from '../../../tools/kubernetes/cluster.ts';
import { apply, kubectl } from '../kubectl.ts';
import { nodesSkipReason } from '../nodes-skip-reason.ts';
import { smallMachine, startProductCluster } from '../product-cluster.ts';

/** Shorter than on other clusters: two rounds of it are waited for. A kubelet brings changed files within a minute and a half. */
const SPREAD_MS = 110_000;

describe('certificates of an installation', { skip: nodesSkipReason() }, () => {
  let cluster: RealCluster;
  const inKubevirt = (...args: string[]) => kubectl(cluster, '-n', 'kubevirt', ...args);
  const bundle = () => inKubevirt('get', 'configmap/kubevirt-ca', '-o', 'jsonpath={.data.ca-bundle}');
  const authorities = async () => (await bundle()).split('BEGIN CERTIFICATE').length - 1;
  const untilThereAre = async (count: number, patienceMs: number) => {
    const deadline = systemClock.now() + patienceMs;
    while ((await authorities()) !== count) {
      assert.ok(systemClock.now() < deadline, `there are not ${count} authorities`);
      await systemClock.sleep(500);
    }
  };

  before(async () => {
    cluster = await startProductCluster({ name: `certificates-${process.pid}` });
    await apply(cluster, smallMachine('web'));
    await kubectl(cluster, 'wait', 'vm/web', '--for=jsonpath={.status.printableStatus}=Running', '--timeout=180s');
  });
  after(async () => {
    await cluster?.[Symbol.asyncDispose]();
  });

  test('new ones are taken up without a failed call', async () => {
    const flag = [{ op: 'add', path: '/spec/template/spec/containers/0/args', value: [`--certificate-spread=${SPREAD_MS / 1000}s`] }];
    await inKubevirt('patch', 'deployment/virt-operator', '--type=json', '-p', JSON.stringify(flag));
    await inKubevirt('rollout', 'status', 'deployment/virt-operator', '--timeout=180s');
    const old = await bundle();
    const stop = new AbortController();
    const calls = keepCalling(stop.signal);
    await inKubevirt('annotate', 'kv', 'kubevirt', 'kubevirt.io/rotate-certificates=now');
    await untilThereAre(2, 60_000);
    await untilThereAre(1, 2 * SPREAD_MS + 120_000);
    assert.notEqual(await bundle(), old);
    stop.abort();
    const { made, failed } = await calls;
    assert.deepEqual(failed, []);
    assert.ok(made > 100, `only ${made} calls`);
  });

  /** Through the aggregated API to virt-api, on to virt-handler, and through a webhook. */
  async function keepCalling(signal: AbortSignal): Promise<{ made: number; failed: string[] }> {
    const paths = ['version', 'namespaces/default/virtualmachineinstances/web/vnc/screenshot'];
    const failed: string[] = [];
    let made = 0;
    while (!signal.aborted) {
      const answers = await Promise.allSettled([
        ...paths.map((path) => cluster.client.request(`/apis/subresources.kubevirt.io/v1/${path}`).then((answer) => answer.arrayBuffer())),
        kubectl(cluster, 'annotate', '--dry-run=server', 'vm/web', `calls=${made}`, '--overwrite'),
      ]);
      made += answers.length;
      failed.push(...answers.flatMap((answer) => (answer.status === 'rejected' ? [String(answer.reason)] : [])));
      await systemClock.sleep(200);
    }
    return { made, failed };
  }
});
