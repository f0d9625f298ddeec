import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { FINALIZER_VMI } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { reached, vm, vmi } from '../../testing/builders.ts';
import { decideVm } from './decide.ts';
import type { ObservedVm } from './observed.ts';
import { revisionFor } from './revision.ts';

const CREATE = 'create VirtualMachineInstance default/db';
const REVISION = 'create ControllerRevision default/revision-start-vm-vm-1-1';
const DELETE = 'delete VirtualMachineInstance default/db';
const STATUS = 'patch VirtualMachine status default/db: status is';
const RELEASE = 'patch VirtualMachineInstance default/db: VMI';
const now = Date.parse('2026-01-01T00:00:00Z');
const stop = { stateChangeRequests: [{ action: 'Stop' as const, uid: 'vmi-1' }] };
const staleStop = { stateChangeRequests: [{ action: 'Stop' as const, uid: 'vmi-0' }] };
const start = { stateChangeRequests: [{ action: 'Start' as const }] };
const restart = { stateChangeRequests: [...stop.stateChangeRequests, ...start.stateChangeRequests] };
const rerun = { runStrategy: 'RerunOnFailure' as const };
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const ran = reached('Pending', 'Scheduling', 'Scheduled', 'Running');
const waiting = { startFailure: { consecutiveFailCount: 2, retryAfterTimestamp: '2026-01-01T00:00:40Z', lastFailedVMIUID: 'vmi-0' } };
const stranger = vmi('Running', {}, { ownerReferences: [{ apiVersion: 'x/v1', kind: 'Other', name: 'o', uid: 'o-1', controller: true }] });
const orphan = vmi('Running', {}, { ownerReferences: [] });
const withRunning = { ...vm('Always'), spec: { running: true, template: vm('Always').spec.template } };

const { template } = vm('Always').spec;
const relabelled = {
  ...vm('Always', {}, { generation: 2 }),
  spec: { ...vm('Always').spec, template: { ...vm('Always').spec.template, metadata: { labels: { tier: 'db' } } } },
};
const edited = {
  ...vm('Always', {}, { generation: 2 }),
  spec: { ...vm('Always').spec, template: { ...template, spec: { ...template.spec, terminationGracePeriodSeconds: 7 } } },
};

const deletedByUser = {
  conditions: [
    {
      type: 'LastShutdown',
      status: 'True' as const,
      reason: 'InstanceDeleted',
      message: 'in any words',
      lastTransitionTime: '2025-12-31T23:59:59Z',
    },
  ],
};

const cases: [string, Omit<ObservedVm, 'now'>, string[]][] = [
  [
    'Always starts a VM without VMI',
    { vm: vm('Always') },
    [`${REVISION}: runStrategy Always`, `${CREATE}: runStrategy Always`, `${STATUS} Starting`],
  ],
  [
    'running: true is Always',
    { vm: withRunning },
    [`${REVISION}: runStrategy Always`, `${CREATE}: runStrategy Always`, `${STATUS} Starting`],
  ],
  ['Always leaves a running VMI alone', { vm: vm('Always'), vmi: vmi('Running') }, [`${STATUS} Running`]],
  [
    'Always replaces a VMI that ended',
    { vm: vm('Always'), vmi: vmi('Succeeded', ran) },
    [`${STATUS} Starting`, `${RELEASE} Succeeded`, `${DELETE}: restarting: VMI Succeeded`],
  ],
  [
    'Always replaces a VMI that crashed, at once when it had run',
    { vm: vm('Always'), vmi: vmi('Failed', ran) },
    [`${STATUS} Starting`, `${RELEASE} Failed`, `${DELETE}: restarting: VMI Failed`],
  ],
  [
    'Always counts a VMI that never ran',
    { vm: vm('Always'), vmi: vmi('Failed') },
    [`${STATUS} CrashLoopBackOff`, `${RELEASE} Failed`, `${DELETE}: restarting: VMI Failed`],
  ],
  [
    'Always lets a deleted VMI be seen gone before it makes the next',
    { vm: vm('Always', deletedByUser) },
    [`${STATUS} Starting`, 'look again in 0.5s'],
  ],
  ['Always waits for its back-off', { vm: vm('Always', waiting) }, [`${STATUS} CrashLoopBackOff`, 'look again in 40s']],
  [
    'Always restarts on request',
    { vm: vm('Always', restart), vmi: vmi('Running') },
    [`${STATUS} Stopping`, `${DELETE}: restart requested`],
  ],
  ['a request for an earlier VMI is dropped', { vm: vm('Always', staleStop), vmi: vmi('Running') }, [`${STATUS} Running`]],
  ['a VMI that is going blocks the next', { vm: vm('Always'), vmi: vmi('Running', {}, deleting) }, [`${STATUS} Stopping`]],
  [
    'RerunOnFailure starts a VM that is new to it',
    { vm: vm('RerunOnFailure') },
    [`${REVISION}: runStrategy RerunOnFailure`, `${CREATE}: runStrategy RerunOnFailure`, `${STATUS} Starting`],
  ],
  ['RerunOnFailure, once recorded, does not start by itself', { vm: vm('RerunOnFailure', rerun) }, [`${STATUS} Stopped`]],
  [
    'RerunOnFailure starts on request',
    { vm: vm('RerunOnFailure', { ...rerun, ...start }) },
    [`${REVISION}: start requested`, `${CREATE}: start requested`, `${STATUS} Starting`],
  ],
  [
    'RerunOnFailure honours the back-off',
    { vm: vm('RerunOnFailure', { ...rerun, ...start, ...waiting }) },
    [`${STATUS} CrashLoopBackOff`, 'look again in 40s'],
  ],
  [
    'RerunOnFailure removes a clean shutdown and stays down',
    { vm: vm('RerunOnFailure', rerun), vmi: vmi('Succeeded', ran) },
    [`${STATUS} Stopped`, `${RELEASE} Succeeded`, `${DELETE}: VMI Succeeded`],
  ],
  [
    'RerunOnFailure reruns a crash',
    { vm: vm('RerunOnFailure', rerun), vmi: vmi('Failed', ran) },
    [`${STATUS} Starting`, `${RELEASE} Failed`, `${DELETE}: VMI Failed`],
  ],
  [
    'RerunOnFailure does not rerun what was stopped on request, however it ended',
    { vm: vm('RerunOnFailure', { ...rerun, ...stop }), vmi: vmi('Failed', ran, deleting) },
    [`${STATUS} Stopped`, `${RELEASE} Failed`],
  ],
  [
    'RerunOnFailure stops on request',
    { vm: vm('RerunOnFailure', { ...rerun, ...stop }), vmi: vmi('Running') },
    [`${STATUS} Stopping`, `${DELETE}: stop requested`],
  ],
  ['Manual waits for a request', { vm: vm('Manual') }, [`${STATUS} Stopped`]],
  [
    'Manual starts on request',
    { vm: vm('Manual', start) },
    [`${REVISION}: start requested`, `${CREATE}: start requested`, `${STATUS} Starting`],
  ],
  [
    'Manual knows no back-off',
    { vm: vm('Manual', { ...start, ...waiting }) },
    [`${REVISION}: start requested`, `${CREATE}: start requested`, `${STATUS} Starting`],
  ],
  ['Manual stops on request', { vm: vm('Manual', stop), vmi: vmi('Running') }, [`${STATUS} Stopping`, `${DELETE}: stop requested`]],
  [
    'Manual obeys only the first request',
    { vm: vm('Manual', { stateChangeRequests: [...staleStop.stateChangeRequests, { action: 'Start' }] }) },
    [`${STATUS} Starting`],
  ],
  ['Manual keeps a VMI that ended', { vm: vm('Manual'), vmi: vmi('Succeeded', ran) }, [`${STATUS} Stopped`, `${RELEASE} Succeeded`]],
  [
    'Manual replaces an ended VMI on request',
    { vm: vm('Manual', restart), vmi: vmi('Succeeded', ran, { finalizers: [FINALIZER_VMI] }) },
    [`${STATUS} Starting`, `${DELETE}: stop requested`],
  ],
  ['Once starts', { vm: vm('Once') }, [`${REVISION}: runStrategy Once`, `${CREATE}: runStrategy Once`, `${STATUS} Starting`]],
  ['Once keeps a VMI that ended', { vm: vm('Once'), vmi: vmi('Succeeded', ran) }, [`${STATUS} Stopped`, `${RELEASE} Succeeded`]],
  ['Once ignores requests', { vm: vm('Once', stop), vmi: vmi('Running') }, [`${STATUS} Running`]],
  ['Halted has nothing to start', { vm: vm('Halted') }, [`${STATUS} Stopped`]],
  ['Halted removes a VMI', { vm: vm('Halted'), vmi: vmi('Running') }, [`${STATUS} Stopping`, `${DELETE}: runStrategy Halted`]],
  ['Halted becomes Always on request', { vm: vm('Halted', start) }, ['patch VirtualMachine default/db: start requested']],
  [
    'a new VM gets the finalizer first',
    { vm: vm('Always', {}, { finalizers: [] }) },
    ['patch VirtualMachine default/db: VM must outlive its VMI'],
  ],
  [
    'a deleted VM removes its VMI first',
    { vm: vm('Always', {}, deleting), vmi: vmi('Running') },
    [`${STATUS} Terminating`, `${DELETE}: VM is being deleted`],
  ],
  [
    'a deleted VM without VMI is let go',
    { vm: vm('Always', {}, deleting) },
    ['patch VirtualMachine default/db: VM is being deleted and has no VMI'],
  ],
  [
    'a deleted VM with the orphan finalizer leaves its VMI behind',
    { vm: vm('Always', {}, { ...deleting, finalizers: ['orphan', ...(vm('Always').metadata.finalizers ?? [])] }), vmi: vmi('Running') },
    ['patch VirtualMachine default/db: VM is being deleted, its VMI is to stay'],
  ],
  [
    'an orphan of the same name is adopted',
    { vm: vm('Always'), stranger: orphan, mayAdopt: true },
    ['patch VirtualMachineInstance default/db: VirtualMachine db adopts it'],
  ],
  [
    'a VM that was refused an instance says so before it tries again',
    { vm: vm('Always'), createError: 'quota exceeded' },
    [`${STATUS} Starting`, `${REVISION}: runStrategy Always`, `${CREATE}: runStrategy Always`],
  ],
  [
    'a start of a changed VM has a revision of its own, in place of that of the earlier start',
    { vm: edited, revisions: [revisionFor(vm('Always'))] },
    [
      'create ControllerRevision default/revision-start-vm-vm-1-2: runStrategy Always',
      `${CREATE}: runStrategy Always`,
      `${STATUS} Starting`,
      'delete ControllerRevision default/revision-start-vm-vm-1-1: a newer start has its own revision',
    ],
  ],
  [
    'a start of the same VM uses its revision again',
    { vm: vm('Always', {}, { generation: 3 }), revisions: [revisionFor(vm('Halted'))] },
    [`${CREATE}: runStrategy Always`, `${STATUS} Starting`],
  ],
  [
    'a VM at rest removes the revision that no longer fits',
    { vm: { ...edited, spec: { ...edited.spec, runStrategy: 'Halted' } }, revisions: [revisionFor(vm('Always'))] },
    [`${STATUS} Stopped`, 'delete ControllerRevision default/revision-start-vm-vm-1-1: the VM has changed since, and nothing runs of it'],
  ],
  ['a VM at rest keeps the revision that fits', { vm: vm('Halted'), revisions: [revisionFor(vm('Always'))] }, [`${STATUS} Stopped`]],
  [
    'an instance keeps the revision that it was started from',
    { vm: edited, vmi: vmi('Running'), revisions: [revisionFor(vm('Always'))] },
    [`${STATUS} Running`],
  ],
  [
    'a VMI of the same template is told the new generation',
    {
      vm: vm('Manual', {}, { generation: 2 }),
      vmi: vmi(
        'Running',
        { virtualMachineRevisionName: revisionFor(vm('Always')).metadata.name },
        { annotations: { 'kubevirt.io/vm-generation': '1' } },
      ),
      revisions: [revisionFor(vm('Always'))],
    },
    [`${STATUS} Running`, 'patch VirtualMachineInstance default/db: the template is the same in generation 2'],
  ],
  [
    'a VMI of a template with other labels stays of the generation that it was made from',
    {
      vm: relabelled,
      vmi: vmi(
        'Running',
        { virtualMachineRevisionName: revisionFor(vm('Always')).metadata.name },
        { annotations: { 'kubevirt.io/vm-generation': '1' } },
      ),
      revisions: [revisionFor(vm('Always'))],
    },
    [`${STATUS} Running`],
  ],
  [
    'a VMI is looked at again before its node can be lost',
    { vm: vm('Always'), vmi: vmi('Running'), heartbeatAt: now - 60_000 },
    [`${STATUS} Running`, 'look again in 241s'],
  ],
  ['a VMI of another controller is as good as none, and in the way', { vm: vm('Always'), stranger }, [`${STATUS} Stopped`]],
  [
    'a VM with both running and runStrategy is left alone',
    { vm: { ...withRunning, spec: { ...withRunning.spec, runStrategy: 'Always' } } },
    [`${STATUS} Stopped`],
  ],
];

describe('decideVm', () => {
  for (const [name, observed, expected] of cases) {
    test(name, () => assert.deepEqual(explain(decideVm({ ...observed, now })), expected));
  }

  test('every status write holds only for the VM as it was seen', () => {
    for (const [, observed] of cases) {
      for (const action of decideVm({ ...observed, now }).actions) if (action.do === 'patch') assert.equal(action.resourceVersion, '1');
    }
  });

  test('events are the ones clients wait for', () => {
    const events = [decideVm({ vm: vm('Always'), now }), decideVm({ vm: vm('Halted'), vmi: vmi('Running'), now })].map(
      ({ actions }) => actions.find(({ event }) => event)?.event,
    );
    assert.deepEqual(events, [
      { type: 'Normal', reason: 'SuccessfulCreate', message: 'Created virtual machine: db' },
      { type: 'Normal', reason: 'SuccessfulDelete', message: 'Deleted virtual machine: db' },
    ]);
  });

  test('adoption keeps other owners, adds our finalizer and forgets the generation of another VM', () => {
    const [action] = decideVm({
      vm: vm('Always'),
      stranger: vmi('Running', {}, { ownerReferences: [], finalizers: ['x'] }),
      mayAdopt: true,
      now,
    }).actions;
    assert.deepEqual(action?.do === 'patch' && action.patch, {
      metadata: {
        ownerReferences: [
          { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', name: 'db', uid: 'vm-1', controller: true, blockOwnerDeletion: true },
        ],
        finalizers: ['kubevirt.io/virtualMachineControllerFinalize', 'x'],
        annotations: { 'kubevirt.io/vm-generation': null },
      },
    });
  });
});
