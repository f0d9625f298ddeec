import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '../../api/core/pod.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { byController } from '../../reconcile/owner.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { OutdatedMachines } from './outdated-machines.ts';

const LABELS = { 'kubevirt.io/outdatedLauncherImage': '' };

function world() {
  const [vmis, pods] = [handFedCache(VMIS), handFedCache(PODS, byController)];
  const outdated = new OutdatedMachines({ vmis, pods, launcherImage: 'new' }, () => ['kubevirt/kubevirt']);
  const woken: string[] = [];
  const stop = outdated.source.subscribe((key) => woken.push(key));
  const seen = () => [outdated.count, ...outdated.mislabelled(9).map(({ isOutdated }) => isOutdated)];
  let version = 1;
  const put = (labels: Readonly<Record<string, string>> = {}) =>
    vmis.put(vmi('Running', { nodeName: 'n1' }, { labels, resourceVersion: String(++version) }));
  const pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } });
  const run = (image: string) => {
    const containers = pod.spec.containers.map((each) => ({ ...each, image }));
    pods.put({ ...pod, metadata: { ...pod.metadata, resourceVersion: String(++version) }, spec: { ...pod.spec, containers } });
  };
  return { vmis, woken, stop, seen, put, run };
}

test('a machine in an older launcher is counted, and is to have its label, whichever of the two is seen first', () => {
  for (const order of [['put', 'run'] as const, ['run', 'put'] as const]) {
    const { seen, put, run, woken } = world();
    for (const step of order) step === 'put' ? put() : run('old');
    assert.deepEqual([seen(), woken], [[1, true], ['kubevirt/kubevirt']]);
    put(LABELS);
    assert.deepEqual(seen(), [1]);
  }
});

test('one that was moved to a newer launcher loses its label, and one that is gone is forgotten', () => {
  const { vmis, seen, put, run } = world();
  put(LABELS);
  run('old');
  run('new');
  assert.deepEqual(seen(), [0, false]);
  vmis.remove(vmi('Running'));
  assert.deepEqual(seen(), [0]);
});

test('nobody is woken for a change that makes no difference', () => {
  const { put, run, woken, stop } = world();
  run('new');
  put();
  put();
  assert.deepEqual(woken, []);
  stop();
  run('old');
  assert.deepEqual(woken, []);
});
