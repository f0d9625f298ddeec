import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { explain } from '../../reconcile/decision.ts';
import { vmi } from '../../testing/builders.ts';
import { decideVmi } from './decide.ts';

const NOTE = 'virtualmachineinstancepresets.admission.kubevirt.io/overridden';

function decided(annotations: Record<string, string>) {
  const pending = vmi('Pending');
  const noted: VirtualMachineInstance = { ...pending, metadata: { ...pending.metadata, annotations } };
  return decideVmi({ vmi: noted, pods: [], isVmGone: false, isNodeLost: false, launcherImage: 'launcher', now: 0 });
}

test('what an instance has of its own in the place of presets is told with its Pod, once and as no warning', () => {
  const { actions } = decided({ [NOTE]: 'two: cpu' });
  const event = actions.find((action) => action.do === 'record')?.event;
  assert.deepEqual([event?.type, event?.reason], ['Normal', 'Override']);
  assert.match(event?.message ?? '', /VirtualMachineInstancePresets: two: cpu$/);
  assert.ok(explain({ actions }).some((line) => line.startsWith('create Pod')));
});

test('a note that somebody wrote is bounded, and none is nothing', () => {
  const event = decided({ [NOTE]: 'x'.repeat(100_000) }).actions.find((action) => action.do === 'record')?.event;
  assert.ok((event?.message.length ?? 0) < 1_200);
  assert.ok(!decided({}).actions.some((action) => action.do === 'record'));
});
