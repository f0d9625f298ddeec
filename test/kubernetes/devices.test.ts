import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { NODES } from '../../src/api/core/node.ts';
import { systemClock } from '../../src/base/clock.ts';
import { createLogger } from '../../src/base/log.ts';
import { offerDevice } from '../../src/virt-handler/devices/device-plugin.ts';
import { RealCluster } from '../../tools/kubernetes/cluster.ts';
import { BUSYBOX_IMAGE } from '../../tools/kubernetes/image-store.ts';
import { until } from '../../tools/kubernetes/until.ts';
import { apply, kubectl, untilReady } from './kubectl.ts';
import { nodesSkipReason } from './nodes-skip-reason.ts';

const RESOURCE = 'devices.kubevirt.io/kvm';

describe('a device of a node that Pods may have', { skip: nodesSkipReason() }, () => {
  let cluster: RealCluster;
  const stop = new AbortController();
  const folder = mkdtempSync(join(tmpdir(), 'device-'));
  let offered: Promise<void>;
  let registrations = 0;
  let count = 100;
  let countChanged = () => {};

  before(async () => {
    cluster = await RealCluster.start({ name: `devices-${process.pid}`, isBare: true });
    const link = join(folder, 'plugins'); // the path of a socket is short
    symlinkSync(join(cluster.folder, 'node1/lib/kubelet/device-plugins'), link);
    const seen = (line: string) => {
      if (line.includes('offering a device')) registrations++;
    };
    const log = createLogger({ write: seen, level: 'info', now: systemClock.now });
    // Any device will do: what a guest does with the real one is not the question.
    const device = { containerPath: '/dev/kvm', hostPath: '/dev/zero', permissions: 'mrw' };
    offered = offerDevice({
      resource: RESOURCE,
      device,
      count: () => count,
      onCountChange: (listener) => {
        countChanged = listener;
      },
      folder: link,
      clock: systemClock,
      log,
      signal: stop.signal,
    });
  });
  after(async () => {
    stop.abort();
    await offered;
    await cluster?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const allocatable = async () => (await cluster.client.get(NODES, { name: 'node1' }))?.status?.allocatable?.[RESOURCE];

  test('the node counts it, and a Pod without privileges that asks for it has it', async () => {
    await until('the node has the resource', async () => (await allocatable()) === '100');
    const container = {
      name: 'main',
      image: BUSYBOX_IMAGE,
      command: ['sleep', '86400'],
      resources: { limits: { [RESOURCE]: '1' } },
      securityContext: { runAsUser: 107, allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    };
    const metadata = { name: 'user', namespace: 'default' };
    const spec = { terminationGracePeriodSeconds: 0, containers: [container] };
    await apply(cluster, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
    await untilReady(cluster, 'user');
    assert.equal(await kubectl(cluster, 'exec', 'user', '--', 'sh', '-c', 'test -c /dev/kvm && head -c 4 /dev/kvm | wc -c'), '4');
  });

  test('the node counts more of it when there are more', async () => {
    count = 120;
    countChanged();
    await until('the node has counted again', async () => (await allocatable()) === '120');
  });

  test('a kubelet that starts again is told again', async () => {
    const before = registrations;
    await cluster.restart('node1', 'kubelet');
    await until('the kubelet has been told again', () => registrations > before);
    await until('the node has the resource again', async () => (await allocatable()) === '120');
  });
});
