/** Run strategies, cell by cell: a row for each run strategy and state of the instance, so that a reader can tick them off. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunStrategy, StateChangeRequest, VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { conditionOf } from '../../api/meta.ts';
import { reached, vm, vmi } from '../../testing/builders.ts';
import { decideVm } from './decide.ts';
import type { ObservedVm } from './observed.ts';
import { deriveVmStatus } from './status.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const ran = reached('Running');
const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const live = vmi('Running', ran);
const succeeded = vmi('Succeeded', ran);
const failed = vmi('Failed', ran);
const START: StateChangeRequest = { action: 'Start' };
const STOP: StateChangeRequest = { action: 'Stop', uid: 'vmi-1' };
const OTHER_STOP: StateChangeRequest = { action: 'Stop', uid: 'vmi-0' };
const failing = { startFailure: { consecutiveFailCount: 1, lastFailedVMIUID: 'vmi-0', retryAfterTimestamp: '2026-01-01T00:00:10Z' } };

type Seen = { readonly has?: VirtualMachineInstance; readonly asked?: readonly StateChangeRequest[]; readonly status?: VmStatus };
type Row = [RunStrategy, string, Seen, string];

const recorded = { status: { runStrategy: 'RerunOnFailure' as const } };

const table: Row[] = [
  ['Always', 'no VMI', {}, 'create'],
  ['Always', 'no VMI, start-failure back-off', { status: failing }, 'wait 10 s'],
  ['Always', 'VMI not final', { has: live }, 'leave'],
  ['Always', 'VMI not final, stop request', { has: live, asked: [STOP] }, 'delete'],
  ['Always', 'VMI Succeeded', { has: succeeded }, 'delete'],
  ['Always', 'VMI Failed', { has: failed }, 'delete'],
  ['RerunOnFailure', 'no VMI, never recorded', {}, 'create'],
  ['RerunOnFailure', 'no VMI, just switched to it', { status: { runStrategy: 'Halted' } }, 'create'],
  ['RerunOnFailure', 'no VMI, recorded', recorded, 'leave'],
  ['RerunOnFailure', 'no VMI, start request', { ...recorded, asked: [START] }, 'create'],
  [
    'RerunOnFailure',
    'no VMI, start request, start-failure back-off',
    { status: { ...recorded.status, ...failing }, asked: [START] },
    'wait 10 s',
  ],
  ['RerunOnFailure', 'VMI not final', { ...recorded, has: live }, 'leave'],
  ['RerunOnFailure', 'VMI not final, stop request', { ...recorded, has: live, asked: [STOP] }, 'delete'],
  ['RerunOnFailure', 'VMI Succeeded', { ...recorded, has: succeeded }, 'delete'],
  ['RerunOnFailure', 'VMI Failed', { ...recorded, has: failed }, 'delete, then Start is requested'],
  ['Manual', 'no VMI', {}, 'leave'],
  ['Manual', 'no VMI, start request', { asked: [START] }, 'create'],
  ['Manual', 'no VMI, start request, no back-off', { asked: [START], status: failing }, 'create'],
  ['Manual', 'VMI not final', { has: live }, 'leave'],
  ['Manual', 'VMI not final, stop request', { has: live, asked: [STOP] }, 'delete'],
  ['Manual', 'VMI Succeeded', { has: succeeded }, 'leave'],
  ['Manual', 'VMI Failed', { has: failed }, 'leave'],
  ['Halted', 'no VMI', {}, 'leave'],
  ['Halted', 'no VMI, start request (start --paused)', { asked: [START] }, 'runStrategy: Always'],
  ['Halted', 'VMI not final', { has: live }, 'delete'],
  ['Halted', 'VMI Succeeded', { has: succeeded }, 'delete'],
  ['Halted', 'VMI Failed', { has: failed }, 'delete'],
  ['Once', 'no VMI', {}, 'create'],
  ['Once', 'no VMI, no back-off', { status: failing }, 'create'],
  ['Once', 'VMI not final', { has: live }, 'leave'],
  ['Once', 'VMI not final, stop request', { has: live, asked: [STOP] }, 'leave'],
  ['Once', 'VMI Succeeded', { has: succeeded }, 'leave'],
  ['Once', 'VMI Failed', { has: failed }, 'leave'],
];

const fencing: Row[] = (['Always', 'RerunOnFailure', 'Manual', 'Once'] as const).flatMap((strategy): Row[] => [
  [strategy, 'a VMI that is going blocks the next', { has: vmi('Running', ran, deleting), asked: [START] }, 'leave'],
  [
    strategy,
    'so does one that has ended and is going',
    { has: vmi('Succeeded', ran, deleting), asked: [START], status: { runStrategy: strategy } },
    'leave',
  ],
]);

const order: Row[] = [
  ['Manual', 'only the first request counts: a stop of another VMI is before the start', { asked: [OTHER_STOP, START] }, 'leave'],
  ['Manual', 'a stop of an earlier VMI does not stop this one', { has: live, asked: [OTHER_STOP] }, 'leave'],
  ['Always', 'a restart is a stop first', { has: live, asked: [STOP, START] }, 'delete'],
];

/** What happens to the instance, and what is remembered of it. */
function outcome(strategy: RunStrategy, { has, asked, status }: Seen): string {
  const machine = vm(strategy, { ...status, ...(asked && { stateChangeRequests: asked }) } as VmStatus);
  const { actions, lookAgainAfterMs } = decideVm({ vm: machine, now, ...(has && { vmi: has }) });
  for (const action of actions) {
    if (action.do === 'create' && action.object.kind === 'VirtualMachineInstance') return 'create';
    if (action.do === 'delete' && action.target.kind === 'VirtualMachineInstance') return `delete${owedStart(actions[0])}`;
    if (action.do === 'patch' && 'spec' in action.patch)
      return `runStrategy: ${(action.patch.spec as { runStrategy: string }).runStrategy}`;
  }
  return lookAgainAfterMs === undefined ? 'leave' : `wait ${lookAgainAfterMs / 1000} s`;
}

function owedStart(first: ReturnType<typeof decideVm>['actions'][number] | undefined): string {
  const status = first?.do === 'patch' ? (first.patch as { status?: VmStatus }).status : undefined;
  return status?.stateChangeRequests?.some(({ action }) => action === 'Start') ? ', then Start is requested' : '';
}

describe('run strategies', () => {
  for (const [strategy, state, seen, expected] of [...table, ...fencing, ...order]) {
    test(`run strategy ${strategy}, ${state}: ${expected}`, () => assert.equal(outcome(strategy, seen), expected));
  }

  test('2.4 Halted with running: false becomes running: true, not a run strategy', () => {
    const { template } = vm('Halted').spec;
    const machine = { ...vm('Halted', { stateChangeRequests: [START] }), spec: { running: false, template } };
    const [action] = decideVm({ vm: machine, now }).actions;
    assert.deepEqual(action?.do === 'patch' && action.patch, { spec: { running: true } });
  });

  test('2.4 running and runStrategy together are a Failure, reason FailedCreate', () => {
    const machine = { ...vm('Always'), spec: { ...vm('Always').spec, running: true } };
    const { conditions } = deriveVmStatus({ vm: machine, now }, 'leave');
    assert.equal(conditionOf(conditions, 'Failure')?.reason, 'FailedCreate');
  });
});

/** What is left of the requests after one look. */
function trimmed(requests: readonly StateChangeRequest[], has?: VirtualMachineInstance): readonly StateChangeRequest[] | undefined {
  const seen: ObservedVm = { vm: vm('Manual', { stateChangeRequests: [...requests] }), now, ...(has && { vmi: has }) };
  return deriveVmStatus(seen, 'leave').stateChangeRequests;
}

const trimming: [string, readonly StateChangeRequest[], VirtualMachineInstance | undefined, readonly StateChangeRequest[] | undefined][] = [
  ['a Stop goes when there is no VMI', [STOP], undefined, undefined],
  ['a Stop goes when it names no uid', [{ action: 'Stop' }], live, undefined],
  ['a Stop goes when it names another uid', [OTHER_STOP], live, undefined],
  ['a Stop of the current VMI stays', [STOP], live, [STOP]],
  ['a Start goes when a VMI exists', [START], live, undefined],
  ['a Start stays without a VMI', [START], undefined, [START]],
  ['a Start stays while the VMI is going', [START], vmi('Running', ran, deleting), [START]],
  ['a Start stays while the VMI is final', [START], succeeded, [START]],
  ['at most one goes per look', [OTHER_STOP, OTHER_STOP], live, [OTHER_STOP]],
];

describe('state change requests', () => {
  for (const [name, requests, has, expected] of trimming)
    test(`state change requests: ${name}`, () => assert.deepEqual(trimmed(requests, has), expected));
});
