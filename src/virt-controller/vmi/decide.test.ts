import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { FINALIZER_VM_CONTROLLER, FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import type { Condition } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, reached, vmi } from '../../testing/builders.ts';
import { decideVmi } from './decide.ts';
import type { ObservedVmi } from './observed.ts';

const WRITE = 'patch VirtualMachineInstance default/db:';
const CHANGED = `${WRITE} what is known of it has changed`;
const DELETE = 'delete Pod default/virt-launcher-db-8tfgs: VMI is being deleted';
const now = Date.parse('2026-01-01T00:01:00Z');
const at = '2026-01-01T00:00:00Z';
const deleting = { deletionTimestamp: at };
const running = { running: { startedAt: at } };
const waiting = { waiting: { reason: 'ContainerCreating' } };
const crashed = { terminated: { exitCode: 1, reason: 'Error', message: 'no disk', finishedAt: at } };
const justEnded = { terminated: { exitCode: 0, reason: 'Completed', finishedAt: '2026-01-01T00:00:58Z' } };
const withoutNode = { ...launcherPod(waiting), spec: { containers: [] } };
const onNode = { nodeName: 'n1' };
const CREATE = 'create Pod default/virt-launcher-db-8tfgs: VMI is Pending';

type Case = Pick<ObservedVmi, 'vmi'> & Partial<ObservedVmi>;
const cases: [string, Case, string[]][] = [
  ['a new VMI is Pending first', { vmi: vmi(undefined) }, [`${WRITE} Pending: VMI is new`]],
  ['a Pending VMI gets a Pod', { vmi: vmi('Pending') }, [CREATE]],
  [
    'a Pending VMI that is deleted gets none',
    { vmi: vmi('Pending', {}, deleting) },
    [`${WRITE} Failed: VMI was deleted before it had a Pod`],
  ],
  ['a VMI with a Pod is Scheduling', { vmi: vmi('Pending'), pods: [withoutNode] }, [`${WRITE} Scheduling: VMI has a Pod`]],
  [
    'the readiness gate is opened as soon as the Pod has a node, so that running and ready are one word of its kubelet',
    { vmi: vmi('Pending'), pods: [launcherPod(waiting)] },
    [`${WRITE} Scheduling: VMI has a Pod`, 'patch Pod status default/virt-launcher-db-8tfgs: the guest is not paused'],
  ],
  [
    'a VMI whose container runs is Scheduled',
    { vmi: vmi('Scheduling'), pods: [launcherPod(running)] },
    [`${WRITE} Scheduled: its Pod runs on n1`, 'patch Pod status default/virt-launcher-db-8tfgs: the guest is not paused'],
  ],
  [
    'a VMI that is deleted is not Scheduled any more',
    { vmi: vmi('Scheduling', {}, deleting), pods: [launcherPod(running)] },
    [CHANGED, DELETE],
  ],
  [
    'a Pod that fails before the guest runs fails the VMI',
    { vmi: vmi('Scheduling'), pods: [launcherPod(crashed)] },
    [`${WRITE} Failed: its Pod has ended: Error, exit code 1: no disk`],
  ],
  [
    'a Pod that is deleted before the guest runs fails the VMI',
    { vmi: vmi('Scheduling'), pods: [launcherPod(running, {}, deleting)] },
    [`${WRITE} Failed: its Pod is being deleted`],
  ],
  ['a Pod that vanishes fails the VMI', { vmi: vmi('Scheduling') }, [`${WRITE} Failed: its Pod is gone`]],
  ['a Pod that vanishes while the guest runs fails the VMI', { vmi: vmi('Running', onNode) }, [`${WRITE} Failed: its Pod is gone`]],
  [
    'virt-handler has a moment to say how a guest ended',
    { vmi: vmi('Running', onNode), pods: [launcherPod(justEnded)] },
    [CHANGED, 'look again in 8s'],
  ],
  [
    'a guest whose end virt-handler does not tell in time fails with its Pod',
    { vmi: vmi('Running', onNode), pods: [launcherPod(crashed)] },
    [`${WRITE} Failed: its Pod has ended: Error, exit code 1: no disk`],
  ],
  [
    'a running guest opens the readiness gate of its Pod',
    { vmi: vmi('Running', onNode), pods: [launcherPod(running)] },
    [CHANGED, 'patch Pod status default/virt-launcher-db-8tfgs: the guest is not paused'],
  ],
  [
    'a paused guest closes the readiness gate of its Pod',
    { vmi: vmi('Running', { ...onNode, conditions: [{ type: 'Paused', status: 'True' }] }), pods: [launcherPod(running)] },
    [CHANGED, 'patch Pod status default/virt-launcher-db-8tfgs: the guest is paused'],
  ],
  [
    'what a probe inside the guest says is told to the Pod',
    { vmi: probed([{ type: 'GuestReady', status: 'False' }]), pods: [launcherPod(running)] },
    [CHANGED, 'patch Pod status default/virt-launcher-db-8tfgs: the guest was asked whether it is ready'],
  ],
  [
    'a readiness probe that has not said anything yet leaves the guest gate alone',
    { vmi: probed([]), pods: [launcherPod(running)] },
    [CHANGED, 'patch Pod status default/virt-launcher-db-8tfgs: the guest is not paused'],
  ],
  ['a deleted VMI deletes its Pod', { vmi: vmi('Succeeded', onNode, deleting), pods: [launcherPod(justEnded)] }, [CHANGED, DELETE]],
  [
    'a deleted VMI waits while its Pod goes',
    { vmi: vmi('Succeeded', onNode, deleting), pods: [launcherPod(running, {}, deleting)] },
    [CHANGED],
  ],
  ['a VMI that has ended keeps its Pod', { vmi: vmi('Succeeded', onNode), pods: [launcherPod(justEnded)] }, [CHANGED]],
];

/** Running, with a readiness probe inside the guest. */
function probed(conditions: readonly Condition[]): VirtualMachineInstance {
  const plain = vmi('Running', { ...onNode, conditions: [...conditions] });
  return { ...plain, spec: { ...plain.spec, readinessProbe: { guestAgentPing: {} } } };
}

function look(seen: Case) {
  return decideVmi({ pods: [], isVmGone: false, launcherImage: 'launcher', now, ...seen });
}

function patchOf(seen: Case) {
  const [action] = look(seen).actions;
  return action?.do === 'patch' ? (action.patch as { metadata?: Record<string, unknown>; status?: Record<string, unknown> }) : undefined;
}

describe('decideVmi', () => {
  for (const [name, seen, expected] of cases) test(name, () => assert.deepEqual(explain(look(seen)), expected));

  test('a new VMI without finalizer gets one, and its first phase, in one write', () => {
    assert.deepEqual(patchOf({ vmi: vmi(undefined, {}, { finalizers: [] }) }), {
      metadata: { finalizers: [FINALIZER_VMI] },
      status: {
        phase: 'Pending',
        phaseTransitionTimestamps: [{ phase: 'Pending', phaseTransitionTimestamp: '2026-01-01T00:01:00Z' }],
        runtimeUser: 107,
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'PodNotExists',
            message: 'The instance has no Pod',
            lastTransitionTime: '2026-01-01T00:01:00Z',
          },
        ],
      },
    });
  });

  test('Scheduled names the node in status and label', () => {
    const patch = patchOf({ vmi: vmi('Scheduling', reached('Pending', 'Scheduling')), pods: [launcherPod(running)] });
    assert.deepEqual(patch?.metadata, { labels: { 'kubevirt.io/nodeName': 'n1' } });
    assert.deepEqual(
      [patch?.status?.['phase'], patch?.status?.['nodeName'], patch?.status?.['activePods'], patch?.status?.['qosClass']],
      ['Scheduled', 'n1', { 'pod-1': 'n1' }, 'Burstable'],
    );
  });

  test('a Pod has the time of its guest, unless no virt-handler is there to ask that to power off', () => {
    const graceOf = (seen: Case) => look(seen).actions.flatMap((action) => (action.do === 'delete' ? [action.gracePeriodSeconds] : []));
    const labels = { 'kubevirt.io/nodeName': 'n1' };
    assert.deepEqual(
      [
        graceOf({ vmi: vmi('Running', onNode, { ...deleting, labels }), pods: [launcherPod(running)] }),
        graceOf({ vmi: vmi('Scheduling', {}, { ...deleting, labels }), pods: [launcherPod(running)] }),
        graceOf({ vmi: vmi('Scheduling', {}, deleting), pods: [launcherPod(waiting)] }),
      ],
      [[undefined], [1], [1]],
    );
  });

  test('an instance that has its node early is labelled early, and not handed over before its Pod runs', () => {
    const patch = patchOf({ vmi: vmi('Pending', reached('Pending')), pods: [launcherPod(waiting)] });
    assert.deepEqual(patch?.metadata, { labels: { 'kubevirt.io/nodeName': 'n1' } });
    assert.deepEqual([patch?.status?.['phase'], patch?.status?.['nodeName']], ['Scheduling', undefined]);
  });

  test('our finalizer goes only when the VMI is final and has no Pod', () => {
    const left = (seen: Case) => patchOf(seen)?.metadata?.['finalizers'];
    assert.deepEqual(
      [
        left({ vmi: vmi('Succeeded', onNode, deleting), pods: [launcherPod(running, {}, deleting)] }),
        left({ vmi: vmi('Succeeded', onNode, deleting) }),
        left({ vmi: vmi('Running', onNode, deleting) }),
        left({ vmi: vmi('Pending', {}, deleting) }),
      ],
      [undefined, [FINALIZER_VM_CONTROLLER], [FINALIZER_VM_CONTROLLER], [FINALIZER_VM_CONTROLLER]],
    );
  });

  test('the finalizer of a VM that is gone goes', () => {
    const patch = patchOf({ vmi: vmi('Running', onNode, { ownerReferences: [] }), pods: [launcherPod(running)], isVmGone: true });
    assert.deepEqual(patch?.metadata, { finalizers: [FINALIZER_VMI] });
  });

  test('an end that was asked for is no warning', () => {
    const events = [vmi('Running', onNode), vmi('Running', onNode, deleting)].map((each) => look({ vmi: each }).actions[0]?.event);
    assert.deepEqual(events, [
      { type: 'Warning', reason: 'Stopped', message: 'The virtual machine instance failed: its Pod is gone' },
      undefined,
    ]);
  });
});
