import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, PodPhase } from '../../api/core/pod.ts';
import { ANNOTATION_VMCTL_POD, LABEL_VMCTL_POD_UID } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { vm } from '../../testing/builders.ts';
import { decideDerivedVm } from './decide.ts';

const labels = { [LABEL_VMCTL_POD_UID]: 'pod-1' };
const annotations = { [ANNOTATION_VMCTL_POD]: 'apps/web-0' };
const derived = vm('Always', {}, { labels, annotations });

function pod(phase: PodPhase, uid = 'pod-1'): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web-0', namespace: 'apps', uid },
    spec: { containers: [] },
    status: { phase },
  };
}

test('a machine stays for as long as its Pod does', () => {
  for (const phase of ['Pending', 'Running', 'Unknown'] as const)
    assert.deepEqual(explain(decideDerivedVm({ vm: derived, pod: pod(phase) })), ['look again in 30s'], phase);
});

test('a machine goes with its Pod, also when the Pod has only ended or another has its name', () => {
  const gone = ['delete VirtualMachine default/db: its vmctl Pod apps/web-0 is gone'];
  assert.deepEqual(explain(decideDerivedVm({ vm: derived, pod: undefined })), gone);
  assert.deepEqual(explain(decideDerivedVm({ vm: derived, pod: pod('Running', 'pod-2') })), gone);
  assert.deepEqual(explain(decideDerivedVm({ vm: derived, pod: pod('Failed') })), [
    'delete VirtualMachine default/db: its vmctl Pod apps/web-0 has Failed',
  ]);
});

test('what is going already, or does not say whose it is, is left alone', () => {
  const going = vm('Always', {}, { labels, annotations, deletionTimestamp: '2026-01-01T00:00:00Z' });
  for (const machine of [going, vm('Always', {}, { labels }), vm('Always', {}, { annotations }), vm('Always')])
    assert.deepEqual(explain(decideDerivedVm({ vm: machine, pod: undefined })), []);
  assert.deepEqual(
    explain(decideDerivedVm({ vm: vm('Always', {}, { labels, annotations: { [ANNOTATION_VMCTL_POD]: 'web-0' } }), pod: undefined })),
    [],
  );
});
