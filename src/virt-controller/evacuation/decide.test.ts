import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { explain } from '../../reconcile/decision.ts';
import { vmi as build } from '../../testing/builders.ts';
import { decideEvacuation, type ObservedEvacuation } from './decide.ts';

const NOW = Date.parse('2026-01-01T00:01:00Z');
const MIGRATABLE: VmiStatus['conditions'] = [{ type: 'LiveMigratable', status: 'True' }];

function asked(status: Partial<VmiStatus> = {}, evictionStrategy: VirtualMachineInstance['spec']['evictionStrategy'] = 'LiveMigrate') {
  const vmi = build('Running', { nodeName: 'n1', evacuationNodeName: 'n1', conditions: MIGRATABLE, ...status });
  return { ...vmi, spec: { ...vmi.spec, evictionStrategy } } as VirtualMachineInstance;
}

function migration(phase: 'Running' | 'Failed', endTimestamp?: string): VirtualMachineInstanceMigration {
  return {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachineInstanceMigration',
    metadata: { name: 'm', namespace: 'default' },
    spec: { vmiName: 'db' },
    status: { phase, migrationState: { ...(endTimestamp && { endTimestamp }) } },
  } as VirtualMachineInstanceMigration;
}

/** A node without the taint, an installation without a strategy of its own. */
const seenOf = (vmi: VirtualMachineInstance) => ({ vmi, strategy: vmi.spec.evictionStrategy ?? 'None', hasToLeave: false, now: NOW });
const lines = (
  vmi: VirtualMachineInstance,
  migrations: readonly VirtualMachineInstanceMigration[] = [],
  more: Partial<ObservedEvacuation> = {},
) => explain(decideEvacuation({ ...seenOf(vmi), migrations, ...more })).join('\n');

test('a machine whose Pod is to be evicted is moved, once', () => {
  assert.match(
    lines(asked()),
    /^create VirtualMachineInstanceMigration default\/kubevirt-evacuation-\S+: its Pod is to be evicted from node n1$/,
  );
  assert.equal(lines(asked(), [migration('Running')]), '');
  assert.match(lines(asked({}, 'LiveMigrateIfPossible')), /^create/);
});

test('a machine leaves a node that has the taint for it, without a mark', () => {
  const vmi = asked({ evacuationNodeName: undefined });
  assert.match(
    lines(vmi, [], { hasToLeave: true }),
    /^create VirtualMachineInstanceMigration default\/kubevirt-evacuation-\S+: node n1 is being drained: it has the taint for that$/,
  );
  assert.equal(lines(vmi, [migration('Running')], { hasToLeave: true }), '');
  assert.equal(lines(asked({ evacuationNodeName: undefined }, 'External'), [], { hasToLeave: true }), '');
  assert.equal(lines(vmi), '');
});

test('one that names no strategy goes by that of the installation', () => {
  const { spec, ...vmi } = asked();
  const { evictionStrategy: _, ...unnamed } = spec;
  assert.match(lines({ ...vmi, spec: unnamed }, [], { strategy: 'LiveMigrate' }), /^create/);
});

test('the mark goes when the machine has left', () => {
  assert.match(lines(asked({ nodeName: 'n2' })), /^patch VirtualMachineInstance default\/db: it has left node n1$/);
});

test('a move that failed is tried again, after a while', () => {
  assert.equal(lines(asked(), [migration('Failed', '2026-01-01T00:00:55Z')]), 'look again in 15s');
  assert.match(lines(asked(), [migration('Failed', '2026-01-01T00:00:30Z')]), /^create/);
  const twice = [migration('Failed', '2026-01-01T00:00:00Z'), migration('Failed', '2026-01-01T00:00:30Z')];
  assert.equal(lines(asked(), twice), 'look again in 10s', 'after twice as long');
});

test('each try has a name of its own, though no more are kept and the instance has not changed', () => {
  const kept = [1, 2, 3, 4, 5].map((second) => {
    const failed = migration('Failed', `2026-01-01T00:00:0${second}Z`);
    return { ...failed, metadata: { ...failed.metadata, uid: `uid-${second}`, creationTimestamp: `2026-01-01T00:00:0${second}Z` } };
  });
  const nameAfter = (migrations: typeof kept) => {
    const [action] = decideEvacuation({ ...seenOf(asked()), migrations, now: NOW + 600_000 }).actions;
    return action?.do === 'create' ? action.object.metadata.name : undefined;
  };
  const next = kept.map((each) => ({ ...each, metadata: { ...each.metadata, uid: `${each.metadata.uid}-later` } }));
  assert.equal(nameAfter(kept), nameAfter([...kept].reverse()));
  assert.notEqual(nameAfter(kept), nameAfter(next));
});

for (const [what, vmi] of [
  ['that nobody has asked to go', build('Running', { nodeName: 'n1', conditions: MIGRATABLE })],
  ['that somebody else moves', asked({}, 'External')],
  ['that may be evicted', asked({}, 'None')],
  ['that cannot be moved', asked({ conditions: [{ type: 'LiveMigratable', status: 'False' }] })],
  ['that has ended', asked({ phase: 'Succeeded' })],
] as const)
  test(`a machine ${what} stays as it is`, () => assert.equal(lines(vmi), ''));
