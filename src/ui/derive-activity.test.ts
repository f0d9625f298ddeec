import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Event } from '../api/core/event.ts';
import { MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { newRestore, newSnapshot } from '../sdk/manifest/snapshot.ts';
import { vmi } from '../testing/builders.ts';
import { deriveActivity, eventsOf, hasPodName, operationsOf } from './derive-activity.ts';
import { deriveTimeline } from './derive-timeline.ts';

const at = (seconds: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const event = (
  reason: string,
  seconds: number,
  about: Event['involvedObject'] = { kind: 'Pod', name: 'virt-launcher-db-x1', namespace: 'default' },
): Event => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: `${reason}${seconds}` },
  involvedObject: about,
  type: 'Normal',
  reason,
  message: `${reason} <b>\u001b[2J`,
  source: { component: 'c' },
  firstTimestamp: at(seconds),
  lastTimestamp: at(seconds),
  count: 1,
});
const stamped = (seconds: number) => ({ creationTimestamp: at(seconds), uid: `u${seconds}` });
const snapshot = {
  ...newSnapshot({ namespace: 'default', vm: 'db', name: 's' }),
  status: { phase: 'Failed' as const, error: { message: 'no room' } },
};
const operations = {
  migrations: [
    {
      apiVersion: 'kubevirt.io/v1',
      kind: MIGRATIONS.kind as 'VirtualMachineInstanceMigration',
      metadata: { name: 'm', ...stamped(5) },
      spec: { vmiName: 'db' },
      status: { phase: 'Succeeded' as const, migrationState: { sourceNode: 'n1', targetNode: 'n2', endTimestamp: at(9) } },
    },
  ],
  snapshots: [{ ...snapshot, metadata: { ...snapshot.metadata, ...stamped(6) } }],
  restores: [newRestore({ namespace: 'default', vm: 'other', snapshot: 's', nowMs: 0 })],
};

test('events and what was done are one list, the newest first, and text', () => {
  const found = deriveActivity([event('Started', 7)], operationsOf({ name: 'db' }, operations));
  assert.deepEqual(
    found.map(({ what, message, isWarning }) => [what, message, isWarning]),
    [
      ['Migration: Succeeded', 'move from n1 to n2', false],
      ['Started', 'Started <b>\\u001b[2J', false],
      ['Snapshot: Failed', 'no room', true],
    ],
  );
});

test('of an event the reason and what it is about are text, too', () => {
  const about = { kind: 'Pod\u202e', name: 'x\u001b[2J', namespace: 'default' };
  const [found] = deriveActivity([event('Said\u0007', 1, about)]);
  assert.deepEqual([found?.about, found?.what], ['Pod\\u202e x\\u001b[2J', 'Said\\u0007']);
});

test('a Pod of a machine with a longer name is not its own', () => {
  assert.deepEqual([hasPodName('virt-launcher-db-x1', 'db'), hasPodName('virt-launcher-db-2-x1', 'db')], [true, false]);
  assert.equal(
    eventsOf({ namespace: 'default', name: 'db' }, [
      event('Pulled', 1),
      event('A', 2, { kind: 'Pod', name: 'virt-launcher-db-2-x1', namespace: 'default' }),
    ]).length,
    1,
  );
});

test('a start is told step by step, with the Pod that it began in', () => {
  const phases = (['Scheduling', 'Scheduled', 'Running'] as const).map((phase, index) => ({
    phase,
    phaseTransitionTimestamp: at([1, 6, 9][index] ?? 0),
  }));
  const instance = vmi('Running', {
    phaseTransitionTimestamps: phases,
    conditions: [{ type: 'AgentConnected', status: 'True', lastTransitionTime: at(30) }],
  });
  const moved = event('Pulled', 100);
  assert.deepEqual(
    deriveTimeline({
      vmi: instance,
      events: [event('Scheduled', 2), event('Pulled', 4), moved],
      start: { printedAtMs: Date.parse(at(10)), loginAtMs: Date.parse(at(21)) },
    }).map(({ what, atSeconds, tookSeconds }) => [what, atSeconds, tookSeconds]),
    [
      ['Pod made', 1, 1],
      ['Node chosen', 2, 1],
      ['Images there', 4, 2],
      ['Pod runs', 6, 2],
      ['Disks made, QEMU runs', 9, 3],
      ['First serial output', 10, 1],
      ['Login prompt', 21, 11],
      ['Agent answers', 30, 9],
    ],
  );
});
