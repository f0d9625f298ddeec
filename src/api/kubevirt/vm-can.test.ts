import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vm, vmi } from '../../testing/builders.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { RUN_STRATEGIES } from './kinds/virtual-machine-schema.ts';
import { refusalOf, type VmAction, type VmiAction, vmiRefusalOf } from './vm-can.ts';

/** What may be done (yes) under each strategy: without an instance, while it runs, after Succeeded, after Failed. */
const TABLE: Readonly<Record<VmAction, Readonly<Record<(typeof RUN_STRATEGIES)[number], string>>>> = {
  start: {
    Always: 'no no no no',
    Halted: 'yes no yes yes',
    Manual: 'yes no yes yes',
    RerunOnFailure: 'yes no yes no',
    Once: 'no no no no',
  },
  stop: {
    Always: 'yes yes yes yes',
    Halted: 'no no no no',
    Manual: 'no yes no no',
    RerunOnFailure: 'no yes no no',
    Once: 'yes yes yes yes',
  },
  restart: {
    Always: 'no yes yes yes',
    Halted: 'no no no no',
    Manual: 'no yes yes yes',
    RerunOnFailure: 'no yes yes yes',
    Once: 'no no no no',
  },
  // Its disk ends with its Pod; what can be suspended is in suspendable.test.ts.
  suspend: {
    Always: 'no no no no',
    Halted: 'no no no no',
    Manual: 'no no no no',
    RerunOnFailure: 'no no no no',
    Once: 'no no no no',
  },
  resume: {
    Always: 'no no no no',
    Halted: 'no no no no',
    Manual: 'no no no no',
    RerunOnFailure: 'no no no no',
    Once: 'no no no no',
  },
  memorydump: {
    Always: 'no yes no no',
    Halted: 'no yes no no',
    Manual: 'no yes no no',
    RerunOnFailure: 'no yes no no',
    Once: 'no yes no no',
  },
  // Without a dump; with one it is always possible.
  removememorydump: {
    Always: 'no no no no',
    Halted: 'no no no no',
    Manual: 'no no no no',
    RerunOnFailure: 'no no no no',
    Once: 'no no no no',
  },
  migrate: {
    Always: 'no yes no no',
    Halted: 'no yes no no',
    Manual: 'no yes no no',
    RerunOnFailure: 'no yes no no',
    Once: 'no yes no no',
  },
};

describe('what can be done to a VM', () => {
  for (const [action, row] of Object.entries(TABLE) as [VmAction, (typeof TABLE)[VmAction]][]) {
    for (const strategy of RUN_STRATEGIES) {
      test(`${action} under ${strategy}`, () => {
        const answers = [undefined, vmi('Running'), vmi('Succeeded'), vmi('Failed')].map((each) =>
          refusalOf(action, { vm: vm(strategy), vmi: each }) ? 'no' : 'yes',
        );
        assert.equal(answers.join(' '), row[strategy]);
      });
    }
  }

  test('a VM that is about to be moved cannot be suspended, though its instance does not show it yet', () => {
    const situation = { vm: vm('Always'), vmi: vmi('Running'), migration: 'move-1' };
    assert.match(refusalOf('suspend', situation)?.message ?? '', /about to be migrated by move-1/);
  });

  test('a suspended VM can be started, resumed, and stopped, under each strategy, and not suspended again or restarted', () => {
    const suspended = { suspension: { phase: 'Suspended' as const } };
    for (const strategy of RUN_STRATEGIES) {
      const can = (['start', 'resume', 'stop', 'suspend', 'restart'] as const).map(
        (action) => !refusalOf(action, { vm: vm(strategy, suspended) }),
      );
      assert.deepEqual(can, [true, true, true, false, false], strategy);
    }
  });

  test('nothing is done to a VM on its way into or out of a suspension but to stop it', () => {
    for (const phase of ['Suspending', 'Resuming', 'Discarding'] as const) {
      const situation = { vm: vm('Manual', { suspension: { phase } }), vmi: phase === 'Suspending' ? vmi('Running') : undefined };
      assert.ok(refusalOf('start', situation), phase);
      assert.ok(refusalOf('resume', situation), phase);
      assert.ok(refusalOf('suspend', situation), phase);
    }
  });

  test('a pending request blocks the next one, but not a change of the wish', () => {
    const pending = { stateChangeRequests: [{ action: 'Start' as const }] };
    const underway = { reason: 'InternalError', message: 'stop/start already underway' };
    assert.deepEqual(refusalOf('start', { vm: vm('Manual', pending) }), underway);
    assert.deepEqual(refusalOf('restart', { vm: vm('Always', pending), vmi: vmi('Running') }), underway);
    assert.deepEqual(refusalOf('start', { vm: vm('Halted', pending), isPaused: true }), underway);
    assert.equal(refusalOf('start', { vm: vm('Halted', pending) }), undefined);
    assert.equal(refusalOf('stop', { vm: vm('Manual', pending), vmi: vmi('Running') }), undefined);
  });

  test('a halted VM that still shuts down can be cut short, not prolonged', () => {
    const seen = { vm: vm('Halted'), vmi: vmi('Running') };
    assert.equal(refusalOf('stop', { ...seen, gracePeriodSeconds: 4 }), undefined);
    assert.equal(refusalOf('stop', { ...seen, gracePeriodSeconds: 5 })?.reason, 'Conflict');
  });

  test('an instance that is new or lost does not block a start', () => {
    for (const phase of [undefined, 'Unknown'] as const) assert.equal(refusalOf('start', { vm: vm('Manual'), vmi: vmi(phase) }), undefined);
    assert.equal(refusalOf('start', { vm: vm('Manual'), vmi: vmi('Pending') })?.message, 'VM is already running');
  });

  test('a machine that stops is not called running', () => {
    const running = vmi('Running');
    const stopping = { ...running, metadata: { ...running.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    assert.match(refusalOf('start', { vm: vm('Halted'), vmi: stopping })?.message ?? '', /^VM is stopping/);
  });

  test('the console is for running instances that have one', () => {
    const without = { ...vmi('Running'), spec: { domain: { devices: { autoattachSerialConsole: false } } } };
    const reasons = [vmi('Running'), vmi('Scheduled'), vmi(undefined), vmi('Failed'), vmi('Succeeded'), without].map(
      (each) => vmiRefusalOf('console', each)?.reason,
    );
    assert.deepEqual(reasons, [undefined, 'BadRequest', 'BadRequest', 'Conflict', 'BadRequest', 'BadRequest']);
  });

  test('the screen is for running instances that have one', () => {
    const without = { ...vmi('Running'), spec: { domain: { devices: { autoattachGraphicsDevice: false } } } };
    const reasons = [vmi('Running'), vmi('Scheduled'), without].map((each) => vmiRefusalOf('vnc', each)?.reason);
    assert.deepEqual(reasons, [undefined, 'BadRequest', 'BadRequest']);
  });

  test('while it is moved, or called back, nobody stops a guest, lets it go on or resets it', () => {
    const of = (migrationState: object) => vmi('Running', { migrationState });
    const sent = { migrationUid: 'm1', startTimestamp: 'T' };
    const failed = { ...sent, failed: true };
    for (const action of ['pause', 'unpause', 'reset', 'softreboot', 'freeze'] as const) {
      for (const state of [{ migrationUid: 'm1' }, sent, failed, { ...sent, completed: true }])
        assert.deepEqual(vmiRefusalOf(action, of(state)), { reason: 'Conflict', message: 'VMI is being migrated' });
      assert.notEqual(vmiRefusalOf(action, of({ ...failed, sourceNodeDomainReadyTimestamp: 'T' }))?.message, 'VMI is being migrated');
    }
  });

  test('a guest whose liveness is probed is not paused, unless its agent is only pinged: it would be ended for it', () => {
    const plain = vmi('Running');
    const probed = { ...plain, spec: { ...plain.spec, livenessProbe: { httpGet: { port: 80 } } } };
    const pinged = { ...plain, spec: { ...plain.spec, livenessProbe: { guestAgentPing: {} } } };
    const reasons = [plain, probed, pinged].map((each) => vmiRefusalOf('pause', each)?.reason);
    assert.deepEqual(reasons, [undefined, 'Forbidden', undefined]);
  });

  test('a guest that stops is not paused, and is let run when it was', () => {
    const conditions = [{ type: 'Paused', status: 'True' as const }];
    const stopping = (of: VirtualMachineInstance) => ({ ...of, metadata: { ...of.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } });
    const refused = [vmiRefusalOf('pause', stopping(vmi('Running'))), vmiRefusalOf('unpause', stopping(vmi('Running', { conditions })))];
    assert.deepEqual(refused, [{ reason: 'Conflict', message: 'VMI is stopping' }, undefined]);
  });

  test('the agent is asked only where there is one', () => {
    const conditions = [{ type: 'AgentConnected', status: 'True' as const }];
    const seen = [vmi('Running', { conditions }), vmi('Running'), vmi('Scheduled', { conditions })];
    const reasons = (action: VmiAction) => seen.map((each) => vmiRefusalOf(action, each)?.reason);
    const question = [undefined, 'InternalError', 'InternalError'];
    for (const action of ['guestosinfo', 'userlist', 'filesystemlist'] as const) assert.deepEqual(reasons(action), question);
    for (const action of ['freeze', 'unfreeze'] as const) assert.deepEqual(reasons(action), [undefined, 'InternalError', 'Conflict']);
    assert.deepEqual(reasons('exec'), [undefined, 'Conflict', 'Conflict']);
  });

  test('a guest that is being saved or dumped is not frozen: it stands still, and would be frozen late', () => {
    const conditions = [{ type: 'AgentConnected', status: 'True' as const }];
    const saved = vmi('Running', { conditions, suspension: { phase: 'Saving' } });
    const dumped = vmi('Running', {
      conditions,
      volumeStatus: [{ name: 'd', target: '', phase: 'MemoryDumpInProgress', memoryDumpVolume: { claimName: 'd' } }],
    });
    for (const each of [saved, dumped]) {
      assert.equal(vmiRefusalOf('freeze', each)?.reason, 'Conflict');
      assert.equal(vmiRefusalOf('unfreeze', each), undefined);
    }
  });
});
