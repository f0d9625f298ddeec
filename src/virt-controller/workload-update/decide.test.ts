import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { decideWorkloadUpdate, type ObservedWorkloads } from './decide.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
type Strategy = KubeVirt['spec']['workloadUpdateStrategy'];

function kubeVirt(workloadUpdateStrategy: Strategy): KubeVirt {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt', namespace: 'kubevirt' },
    spec: { workloadUpdateStrategy },
  } as KubeVirt;
}

function machine(name: string, { isMovable = true, image = 'old' } = {}): ObservedWorkloads['machines'][number] {
  const conditions = [{ type: 'LiveMigratable', status: isMovable ? ('True' as const) : ('False' as const) }];
  const pod = launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } });
  const containers = pod.spec.containers.map((each) => ({ ...each, image }));
  return {
    vmi: vmi('Running', { nodeName: 'n1', conditions }, { name, uid: `uid-${name}` }),
    pod: { ...pod, spec: { ...pod.spec, containers } },
    migrations: [],
  };
}

function migration(phase: 'Running' | 'Failed', endTimestamp?: string): VirtualMachineInstanceMigration {
  return {
    metadata: { name: 'm' },
    spec: {},
    status: { phase, migrationState: { ...(endTimestamp && { endTimestamp }) } },
  } as VirtualMachineInstanceMigration;
}

const both: Strategy = { workloadUpdateMethods: ['LiveMigrate', 'Evict'] };
const usual = { launcherImage: 'new', outdated: 0, mislabelled: [], underWay: 0, parallel: 5, now };
const lines = (strategy: Strategy, machines: ObservedWorkloads['machines'], more: Partial<ObservedWorkloads> = {}) =>
  explain(decideWorkloadUpdate({ ...usual, kubeVirt: kubeVirt(strategy), machines, ...more }));
const MOVE = /^create VirtualMachineInstanceMigration default\/kubevirt-workload-update-\S+: its launcher has another image than new$/;
const END = 'its launcher is outdated, and it is not moved';

describe('machines of an older installation', () => {
  test('are moved, those that cannot be are started anew, and others are left alone', () => {
    const said = lines(both, [machine('a'), machine('b', { isMovable: false }), machine('c', { image: 'new' })]);
    assert.match(said[0] ?? '', MOVE);
    assert.deepEqual(said.slice(1), [`delete VirtualMachineInstance default/b: ${END}`]);
  });

  test('go on as they are where nobody asks for it', () => {
    assert.deepEqual([lines(undefined, [machine('a')]), lines({ workloadUpdateMethods: [] }, [machine('a')])], [[], []]);
    assert.deepEqual(lines({ workloadUpdateMethods: ['LiveMigrate'] }, [machine('b', { isMovable: false })]), []);
  });

  test('are moved no more at once than may be', () => {
    const many = ['a', 'b', 'c'].map((name) => machine(name));
    assert.equal(lines(both, many, { parallel: 2, underWay: 0 }).length, 2);
    assert.deepEqual(lines(both, many, { parallel: 2, underWay: 2 }), []);
  });

  test('wait for a move that is under way, and a while after one that failed', () => {
    assert.deepEqual(lines(both, [{ ...machine('a'), migrations: [migration('Running')] }]), []);
    assert.deepEqual(lines(both, [{ ...machine('a'), migrations: [migration('Failed', '2026-01-01T00:00:30Z')] }]), ['look again in 30s']);
    assert.match(lines(both, [{ ...machine('a'), migrations: [migration('Failed', '2026-01-01T00:00:00Z')] }])[0] ?? '', MOVE);
  });

  test('wait twice as long after each move that fails, and not longer than for the five that are kept', () => {
    const failed = (count: number) => Array.from({ length: count }, () => migration('Failed', '2026-01-01T00:00:00Z'));
    const waits = (count: number) => lines(both, [{ ...machine('a'), migrations: failed(count) }], { now: now - 60_000 });
    assert.deepEqual([1, 2, 5].map(waits), [['look again in 60s'], ['look again in 120s'], ['look again in 960s']]);
  });

  test('are ended in batches, with time between them', () => {
    const strategy: Strategy = { workloadUpdateMethods: ['Evict'], batchEvictionSize: 2, batchEvictionInterval: '30s' };
    const many = ['a', 'b', 'c'].map((name) => machine(name));
    const deletion = (name: string) => `delete VirtualMachineInstance default/${name}: ${END}`;
    assert.deepEqual(lines(strategy, many), [deletion('a'), deletion('b'), 'look again in 30s']);
    assert.deepEqual(lines(strategy, many.slice(2), { lastBatchAt: now - 10_000 }), ['look again in 20s']);
    assert.deepEqual(lines(strategy, many.slice(2), { lastBatchAt: now - 30_000 }), [deletion('c')]);
  });

  test('are counted in the status, and labelled, whatever is done about them', () => {
    const [old, current] = [machine('a').vmi, machine('b').vmi];
    const mislabelled = [
      { vmi: old, isOutdated: true },
      { vmi: current, isOutdated: false },
    ];
    const { actions } = decideWorkloadUpdate({ ...usual, kubeVirt: kubeVirt(undefined), machines: [], outdated: 3, mislabelled });
    assert.deepEqual(
      actions.map((action) => action.do === 'patch' && [action.target.name, action.subresource, action.patch]),
      [
        ['kubevirt', 'status', { status: { outdatedVirtualMachineInstanceWorkloads: 3 } }],
        ['a', undefined, { metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': '' } } }],
        ['b', undefined, { metadata: { labels: { 'kubevirt.io/outdatedLauncherImage': null } } }],
      ],
    );
    const told = { ...kubeVirt(undefined), status: { outdatedVirtualMachineInstanceWorkloads: 3 } };
    assert.deepEqual(decideWorkloadUpdate({ ...usual, kubeVirt: told, machines: [], outdated: 3 }).actions, []);
  });
});
