/** KubeVirt's own virtctl, unchanged, on any cluster: every command that belongs to what we have, with a real guest. */
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { replay, type SessionCluster } from '../seeds/replay.ts';
import { useConsole, usePortForward, useScreen } from './long-running.ts';

/** The cluster has the guest `localhost/guests/agent`; its `virtctl` is KubeVirt's. Leaves the machine `agent` running. */
export async function useUpstreamVirtctl(t: TestContext, cluster: SessionCluster): Promise<void> {
  await t.test('commands that end by themselves', () => replay(join(import.meta.dirname, 'session.txt'), cluster));
  await t.test('a console that is opened while the guest starts', () => useConsole(cluster, 'agent'));
  await t.test('port-forward to the machine and to its instance', async () => {
    await usePortForward(cluster, 'vm/agent');
    await usePortForward(cluster, 'vmi/agent/default');
  });
  await t.test('vnc --proxy-only', () => useScreen(cluster, 'agent'));
}

/** After that: disks that are sent to the cluster and taken away. */
export async function useUpstreamDisks(t: TestContext, cluster: SessionCluster): Promise<void> {
  await t.test('image-upload and vmexport', () => replay(join(import.meta.dirname, 'disks.txt'), cluster));
  await t.test('memory-dump', () => replay(join(import.meta.dirname, 'dump.txt'), cluster));
}

/** After that: volumes that come and go while the guest runs. */
export async function useUpstreamVolumes(t: TestContext, cluster: SessionCluster): Promise<void> {
  await t.test('addvolume and removevolume', () => replay(join(import.meta.dirname, 'volumes.txt'), cluster));
}
