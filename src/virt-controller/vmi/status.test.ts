import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { type Condition, conditionOf } from '../../api/meta.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import type { ObservedVmi } from './observed.ts';
import { deriveVmiStatus } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const at = '2026-01-01T00:00:00Z';
const deleting = { deletionTimestamp: at };
const running = { running: { startedAt: at } };
const isReady = { conditions: [{ type: 'Ready', status: 'True' as const }] };
const onNode = { nodeName: 'n1' };

type Seen = Pick<ObservedVmi, 'vmi'> & Partial<ObservedVmi>;
function conditions(seen: Seen): readonly Condition[] {
  return deriveVmiStatus({ pods: [], isVmGone: false, launcherImage: 'launcher', now, ...seen }, undefined).conditions ?? [];
}
const ready = (seen: Seen) => [conditionOf(conditions(seen), 'Ready')].map((c) => `${c?.status} ${c?.reason ?? ''}`.trim())[0];

describe('deriveVmiStatus', () => {
  test('Ready follows the Pod once the guest runs', () => {
    assert.deepEqual(
      [
        ready({ vmi: vmi('Pending') }),
        ready({ vmi: vmi('Running', onNode), pods: [launcherPod(running, isReady, deleting)] }),
        ready({ vmi: vmi('Scheduled', onNode), pods: [launcherPod(running, isReady)] }),
        ready({ vmi: vmi('Running', onNode), pods: [launcherPod(running)] }),
        ready({ vmi: vmi('Running', onNode), pods: [launcherPod(running, isReady)] }),
      ],
      ['False PodNotExists', 'False PodTerminating', 'False GuestNotRunning', 'False PodConditionMissing', 'True'],
    );
  });

  for (const [said, reason] of [
    ['ErrImagePull', 'ErrImagePull'],
    ['ImagePullBackOff', 'ImagePullBackOff'],
    ['InvalidImageName', 'ErrImagePull'],
  ]) {
    test(`${said} of the kubelet is Synchronized=False ${reason}, in its words`, () => {
      const pods = [launcherPod({ waiting: { reason: said ?? '', message: 'no such image' } })];
      const found = conditionOf(conditions({ vmi: vmi('Scheduling'), pods }), 'Synchronized');
      assert.deepEqual(found, { type: 'Synchronized', status: 'False', reason, message: 'no such image', lastTransitionTime: at });
    });
  }

  test('that an instance has to leave its node is told as long as it is so', () => {
    const asked = vmi('Running', { ...onNode, evacuationNodeName: 'n1' });
    const told = conditions({ vmi: asked, pods: [launcherPod(running, isReady)] });
    const { status, reason, message } = conditionOf(told, 'EvictionRequested') ?? {};
    assert.deepEqual([status, reason, message], ['True', 'EvictionRequested', 'The instance has to leave node n1']);
    const later = conditions({ vmi: vmi('Running', { ...onNode, conditions: told }), pods: [launcherPod(running, isReady)] });
    assert.equal(conditionOf(later, 'EvictionRequested'), undefined);
  });

  test('our Synchronized goes when all is well, another component’s stays', () => {
    const after = (reason: string) =>
      conditions({
        vmi: vmi('Scheduling', { conditions: [{ type: 'Synchronized', status: 'False', reason }] }),
        pods: [launcherPod(running)],
      }).map(({ type }) => type);
    assert.deepEqual([after('ImagePullBackOff'), after('SyncFailed')], [['Ready'], ['Synchronized', 'Ready']]);
  });

  test('a Pod that fits nowhere is told, and forgotten when it does', () => {
    const nowhere = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes' } as const;
    const told = conditions({ vmi: vmi('Scheduling'), pods: [launcherPod({}, { conditions: [nowhere] })] });
    assert.deepEqual(conditionOf(told, 'PodScheduled'), { ...nowhere, lastTransitionTime: at });
    const later = conditions({ vmi: vmi('Scheduling', { conditions: [...told] }), pods: [launcherPod(running)] });
    assert.equal(conditionOf(later, 'PodScheduled'), undefined);
  });

  test('a claim that names no class where there is no default one is told, with what mends it, until it is bound', () => {
    const nowhere = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: 'unbound claims' } as const;
    const pods = [launcherPod({}, { conditions: [nowhere] })];
    const claim = (status: object) => new Map([['data', { spec: {}, status } as PersistentVolumeClaim]]);
    const told = conditions({ vmi: vmi('Scheduling'), pods, claims: claim({ phase: 'Pending' }) });
    const found = conditionOf(told, 'Synchronized');
    assert.equal(found?.reason, 'NoStorageClass');
    assert.match(found?.message ?? '', /^PVC default\/data names no storage class.*is-default-class=true/);
    const later = conditions({ vmi: vmi('Scheduling', { conditions: [...told] }), pods, claims: claim({ phase: 'Bound' }) });
    assert.equal(conditionOf(later, 'Synchronized'), undefined);
  });

  test('a Pod that the server refuses is Synchronized=False FailedCreate', () => {
    const found = conditionOf(conditions({ vmi: vmi('Pending'), createError: 'forbidden: quota' }), 'Synchronized');
    assert.deepEqual([found?.reason, found?.message], ['FailedCreate', 'forbidden: quota']);
  });
});
