import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { VmSituation } from '../../api/kubevirt/vm-can.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { decideRestart } from './decide-restart.ts';
import { decideStart } from './decide-start.ts';
import { decideStop } from './decide-stop.ts';
import type { Outcome } from './outcome.ts';

const DECIDE = { start: decideStart, stop: decideStop, restart: decideRestart };

/** One line per write, or the reason for none. */
function told(outcome: Outcome): string[] {
  if ('refused' in outcome) return [`${outcome.refused.reason}: ${outcome.refused.message}`];
  return outcome.writes.map(({ target, subresource, patch, resourceVersion }) => {
    const where = [target.kind, subresource, resourceVersion && 'if unchanged'].filter(Boolean).join(' ');
    return `${where}: ${JSON.stringify(patch)}`;
  });
}

const SPEC = 'VirtualMachine if unchanged';
const STATUS = 'VirtualMachine status if unchanged';
const STOP = '{"action":"Stop","uid":"vmi-1"}';
const START = '{"action":"Start"}';
const requests = (...list: string[]) => `${STATUS}: {"status":{"stateChangeRequests":[${list.join(',')}]}}`;
const grace = (seconds: number) => `VirtualMachineInstance: {"spec":{"terminationGracePeriodSeconds":${seconds}}}`;
const spelledRunning = (running: boolean): VirtualMachine => {
  const { runStrategy: _, ...spec } = vm('Halted').spec;
  return { ...vm('Halted'), spec: { ...spec, running } };
};
const waiting = { stateChangeRequests: [{ action: 'Start' as const }] };
const running = vmi('Running');

const cases: [string, keyof typeof DECIDE, VmSituation, string[]][] = [
  ['start of Halted makes it Always', 'start', { vm: vm('Halted') }, [`${SPEC}: {"spec":{"runStrategy":"Always"}}`]],
  ['start keeps the spelling running', 'start', { vm: spelledRunning(false) }, [`${SPEC}: {"spec":{"running":true}}`]],
  [
    'paused start of Halted is a request',
    'start',
    { vm: vm('Halted'), isPaused: true },
    [requests('{"action":"Start","data":{"paused":"true"}}')],
  ],
  ['start of Manual is a request', 'start', { vm: vm('Manual') }, [requests(START)]],
  ['start of Manual replaces a finished instance', 'start', { vm: vm('Manual'), vmi: vmi('Failed') }, [requests(STOP, START)]],
  [
    'start of RerunOnFailure replaces one that succeeded',
    'start',
    { vm: vm('RerunOnFailure'), vmi: vmi('Succeeded') },
    [requests(STOP, START)],
  ],
  [
    'start of RerunOnFailure after a failure is refused',
    'start',
    { vm: vm('RerunOnFailure'), vmi: vmi('Failed') },
    ['Conflict: RerunOnFailure does not support starting VM from failed state'],
  ],
  ['start of Always is refused', 'start', { vm: vm('Always') }, ['Conflict: Always does not support manual start requests']],
  ['start while running is refused', 'start', { vm: vm('Manual'), vmi: running }, ['Conflict: VM is already running']],
  ['stop of Always makes it Halted', 'stop', { vm: vm('Always'), vmi: running }, [`${SPEC}: {"spec":{"runStrategy":"Halted"}}`]],
  ['stop of Always needs no instance', 'stop', { vm: vm('Always') }, [`${SPEC}: {"spec":{"runStrategy":"Halted"}}`]],
  ['stop keeps the spelling running', 'stop', { vm: spelledRunning(true) }, [`${SPEC}: {"spec":{"running":false}}`]],
  ['stop of Once makes it Halted', 'stop', { vm: vm('Once'), vmi: running }, [`${SPEC}: {"spec":{"runStrategy":"Halted"}}`]],
  ['stop of Manual is a request', 'stop', { vm: vm('Manual'), vmi: running }, [requests(STOP)]],
  ['stop drops requests that wait', 'stop', { vm: vm('Manual', waiting), vmi: running }, [requests(STOP)]],
  ['stop of Manual without an instance is refused', 'stop', { vm: vm('Manual') }, ['Conflict: VM is not running']],
  [
    'stop with a grace period tells the instance first',
    'stop',
    { vm: vm('Always'), vmi: running, gracePeriodSeconds: 0 },
    [grace(0), `${SPEC}: {"spec":{"runStrategy":"Halted"}}`],
  ],
  ['stop cuts a shutdown short', 'stop', { vm: vm('Halted'), vmi: running, gracePeriodSeconds: 0 }, [grace(0), requests(STOP)]],
  ['restart stops and starts', 'restart', { vm: vm('Always'), vmi: running }, [requests(STOP, START)]],
  ['restart of Manual is the same', 'restart', { vm: vm('Manual'), vmi: running }, [requests(STOP, START)]],
  [
    'a forced restart shortens the grace period',
    'restart',
    { vm: vm('Always'), vmi: running, gracePeriodSeconds: 0 },
    [grace(1), requests(STOP, START)],
  ],
  ['restart of Halted is refused', 'restart', { vm: vm('Halted') }, ['Conflict: Halted does not support manual restart requests']],
  ['restart without an instance is refused', 'restart', { vm: vm('Always') }, ['Conflict: VM is not running']],
  [
    'restart while one waits is refused',
    'restart',
    { vm: vm('Always', waiting), vmi: running },
    ['InternalError: stop/start already underway'],
  ],
];

describe('decideStart, decideStop, decideRestart', () => {
  for (const [name, verb, situation, expected] of cases) {
    test(name, () => assert.deepEqual(told(DECIDE[verb](situation)), expected));
  }

  test('a stop of a suspended machine warns of what is lost', () => {
    const suspended = vm('Always', { suspension: { phase: 'Suspended', claimName: 'c' } });
    const [outcome, usual] = [decideStop({ vm: suspended }), decideStop({ vm: vm('Always'), vmi: running })];
    assert.match(String('writes' in outcome && outcome.warning), /saved memory is thrown away/);
    assert.equal('writes' in usual && usual.warning, undefined);
  });

  test('a shortened grace period can be taken back', () => {
    const outcome = decideRestart({ vm: vm('Always'), vmi: running, gracePeriodSeconds: 0 });
    assert.deepEqual('undo' in outcome && outcome.undo?.patch, { spec: { terminationGracePeriodSeconds: 5 } });
  });
});
