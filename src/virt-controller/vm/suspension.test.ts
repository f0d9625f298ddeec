import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { RUN_STRATEGIES } from '../../api/kubevirt/kinds/virtual-machine-schema.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { reached, vm, vmi } from '../../testing/builders.ts';
import { decideVm } from './decide.ts';
import type { ObservedVm } from './observed.ts';
import { resumedVmi, suspensionAfter } from './suspension.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const ran = reached('Pending', 'Scheduling', 'Scheduled', 'Running');
const suspending = vm('Always', { suspension: { phase: 'Suspending', instanceUID: 'vmi-1' } });
const kept = { phase: 'Suspended', claimName: 'c', digest: 'd', bytes: 5 } as const;
const resuming = vm('Always', { suspension: { ...kept, phase: 'Resuming' } });
const forSnapshot = (snapshotInProgress?: string) =>
  vm('Always', { suspension: { ...kept, snapshotName: 's' }, ...(snapshotInProgress !== undefined && { snapshotInProgress }) });
const memoryClaim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'c', namespace: 'default', uid: 'c-1', ownerReferences: [controllerReferenceTo(resuming)] },
  spec: {},
};
const saved = { phase: 'Saved', claimName: 'c', digest: 'd', bytes: 5 } as const;

const AFTER: readonly [string, ObservedVm, string | undefined][] = [
  ['nothing is saved of an instance that is gone', { vm: suspending, now }, undefined],
  ['nor of another one', { vm: suspending, vmi: vmi('Running', {}, { uid: 'vmi-2' }), now }, undefined],
  ['nor of one that ended by itself', { vm: suspending, vmi: vmi('Succeeded', ran), now }, undefined],
  [
    'one that is being saved goes on to be',
    { vm: suspending, vmi: vmi('Running', { suspension: { phase: 'Saving' } }), now },
    'Suspending',
  ],
  ['failed is the end of it', { vm: suspending, vmi: vmi('Running', { suspension: { phase: 'Failed' } }), now }, undefined],
  ['saved is suspended', { vm: suspending, vmi: vmi('Succeeded', { ...ran, suspension: saved }), now }, 'Suspended'],
  ['an instance that is to come is waited for', { vm: resuming, now }, 'Resuming'],
  ['one that has not loaded it leaves it', { vm: resuming, vmi: vmi('Failed', { suspension: { phase: 'Resuming' } }), now }, 'Suspended'],
  ['one that has used it, has', { vm: resuming, vmi: vmi('Failed', { ...ran, suspension: { phase: 'Resumed' } }), now }, undefined],
  ['also when it has forgotten that', { vm: resuming, vmi: vmi('Running', ran), now }, undefined],
  [
    'the one that was saved has used nothing, however long it takes to go',
    { vm: resuming, vmi: vmi('Succeeded', { ...ran, suspension: saved }), now },
    'Resuming',
  ],
  [
    'one of an earlier try that is going says nothing of this one',
    { vm: resuming, vmi: vmi('Failed', { suspension: { phase: 'Resuming' } }, { deletionTimestamp: '2026-01-01T00:00:00Z' }), now },
    'Resuming',
  ],
  ['one that was suspended for a snapshot stays so while that is taken', { vm: forSnapshot('s'), now }, 'Suspended'],
  ['and goes on when that is over', { vm: forSnapshot(), now }, 'Resuming'],
  ['but not before its instance is gone', { vm: forSnapshot(), vmi: vmi('Succeeded', { ...ran, suspension: saved }), now }, 'Suspended'],
  ['what is to be thrown away is', { vm: vm('Halted', { suspension: { phase: 'Discarding' } }), now }, undefined],
];

describe('what becomes of a suspension', () => {
  for (const [name, seen, phase] of AFTER) test(name, () => assert.equal(suspensionAfter(seen)?.phase, phase));

  test('no run strategy starts a suspended machine', () => {
    for (const strategy of RUN_STRATEGIES) {
      const lines = explain(decideVm({ vm: vm(strategy, { suspension: kept }), now }));
      assert.ok(!lines.some((line) => line.startsWith('create')), `${strategy}: ${lines}`);
    }
  });

  test('a machine is not resumed while a snapshot keeps its memory', () => {
    const lines = explain(decideVm({ vm: vm('Always', { suspension: { ...kept, phase: 'Resuming' }, snapshotInProgress: 's' }), now }));
    assert.ok(!lines.some((line) => line.startsWith('create')), lines.join('\n'));
  });

  test('a machine that is to be suspended is kept, given a PVC, and told, in this order', () => {
    const lines = explain(decideVm({ vm: suspending, vmi: vmi('Running', ran), now })).filter((line) => line.includes('suspended'));
    assert.deepEqual(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')),
      ['create ControllerRevision', 'create PersistentVolumeClaim', 'patch VirtualMachineInstance'],
    );
  });

  test('that saving failed is forgotten when the guest runs on, not before', () => {
    const forgets = (startTimestamp?: string) => {
      const failed = vmi('Running', { ...ran, suspension: { phase: 'Failed', ...(startTimestamp && { startTimestamp }) } });
      return [suspending, vm('Always')].map((machine) =>
        explain(decideVm({ vm: machine, vmi: failed, now })).some((line) => line.endsWith('its machine knows it')),
      );
    };
    assert.deepEqual(
      [forgets('2026-01-01T00:00:00Z'), forgets()],
      [
        [false, false],
        [true, true],
      ],
    );
  });

  test('a machine that is to go on lets the saved instance go first, whatever its run strategy, and loses nothing', () => {
    for (const strategy of RUN_STRATEGIES) {
      const machine = vm(strategy, { suspension: { ...kept, phase: 'Resuming' } });
      const lines = explain(decideVm({ vm: machine, vmi: vmi('Succeeded', { ...ran, suspension: saved }), memoryClaim, now }));
      assert.deepEqual(
        lines.filter((line) => /^(create|delete)/.test(line)).map((line) => line.split(' ').slice(0, 2).join(' ')),
        ['delete VirtualMachineInstance'],
        `${strategy}: ${lines}`,
      );
    }
  });

  test('used memory is deleted before it is forgotten', () => {
    const lines = explain(decideVm({ vm: resuming, vmi: vmi('Running', ran), memoryClaim, now }));
    const [deletion, status] = ['delete PersistentVolumeClaim', 'patch VirtualMachine status'].map((start) =>
      lines.findIndex((line) => line.startsWith(start)),
    );
    assert.ok(deletion !== undefined && status !== undefined && deletion >= 0 && deletion < status, lines.join('\n'));
  });

  test('the instance that goes on is what the saved one was, and knows what to load', () => {
    const decided = decideVm({ vm: suspending, vmi: vmi('Running', { ...ran, nodeName: 'n1' }), now });
    const record = decided.actions.find((action) => action.do === 'create' && action.object.kind === 'ControllerRevision');
    assert.ok(record?.do === 'create');
    const next = resumedVmi({ vm: resuming, kept: record.object as NonNullable<ObservedVm['kept']>, now });
    assert.deepEqual(
      [next?.spec, next?.status?.phase, next?.status?.suspension],
      [vmi('Running').spec, 'Pending', { phase: 'Resuming', claimName: 'c', digest: 'd', bytes: 5 }],
    );
    assert.equal(next?.metadata.uid, undefined);
  });

  test('why a launcher refused is told without the rest of its log', () => {
    const message = 'QEMU ended: disk root\nerror[RESUME_REFUSED]: the guest cannot be resumed / why: it is damaged / fix: x';
    const after = suspensionAfter({ vm: resuming, vmi: vmi('Failed', { suspension: { phase: 'Resuming', message } }), now });
    assert.equal(after?.message, 'it is damaged');
  });
});
