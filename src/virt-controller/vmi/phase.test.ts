/** virt-controller's rows of the phase table: each change of phase by name. Those of virt-handler are in virt-handler/vmi/phase.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { launcherPod, vmi } from '../../testing/builders.ts';
import type { ObservedVmi } from './observed.ts';
import { nextPhaseOf } from './phase.ts';

const at = '2026-01-01T00:00:00Z';
const now = Date.parse(at) + 60_000;
const deleting = { deletionTimestamp: at };
const onNode = { nodeName: 'n1' };
const pending = launcherPod({ waiting: { reason: 'ContainerCreating' } });
const up = launcherPod({ running: { startedAt: at } });
const failed = launcherPod({ terminated: { exitCode: 1, reason: 'Error', finishedAt: at } });
const succeeded = launcherPod({ terminated: { exitCode: 0, reason: 'Completed', finishedAt: at } });
const going = launcherPod({ running: { startedAt: at } }, {}, deleting);
const beside = { name: 'sidecar', image: '', imageID: '', restartCount: 0 };
const withUnready = {
  ...up,
  status: { ...up.status, containerStatuses: [...(up.status?.containerStatuses ?? []), { ...beside, ready: false }] },
};
const elsewhere = { ...up, spec: { ...up.spec, nodeName: 'n2' } };

type Row = [name: string, seen: Pick<ObservedVmi, 'vmi'> & Partial<ObservedVmi>, expected: string];

const rows: Row[] = [
  ['none → Pending: first seen', { vmi: vmi(undefined) }, 'Pending'],
  ['Pending → Scheduling: a launcher Pod exists', { vmi: vmi('Pending'), pods: [pending] }, 'Scheduling'],
  ['Pending → Failed: deleted before a Pod exists', { vmi: vmi('Pending', {}, deleting) }, 'Failed'],
  ['Pending stays: no Pod yet', { vmi: vmi('Pending') }, 'stays'],
  ['Scheduling → Scheduled: the compute container runs', { vmi: vmi('Scheduling'), pods: [up] }, 'Scheduled'],
  ['Scheduling stays: the compute container waits', { vmi: vmi('Scheduling'), pods: [pending] }, 'stays'],
  ['Scheduling stays: a container beside it is not ready', { vmi: vmi('Scheduling'), pods: [withUnready] }, 'stays'],
  ['Scheduling stays: the VMI is being deleted', { vmi: vmi('Scheduling', {}, deleting), pods: [up] }, 'stays'],
  ['Scheduling → Failed: the Pod failed', { vmi: vmi('Scheduling'), pods: [failed] }, 'Failed PodEnded'],
  ['Scheduling → Failed: the Pod succeeded', { vmi: vmi('Scheduling'), pods: [succeeded] }, 'Failed PodEnded'],
  ['Scheduling → Failed: the Pod is terminating', { vmi: vmi('Scheduling'), pods: [going] }, 'Failed PodTerminating'],
  ['Scheduling → Failed: the Pod vanished', { vmi: vmi('Scheduling') }, 'Failed PodGone'],
  ['Scheduled → Failed: the Pod is gone', { vmi: vmi('Scheduled', onNode) }, 'Failed PodGone'],
  [
    'Scheduled → Failed: the Pod on its node is gone, another does not count',
    { vmi: vmi('Scheduled', onNode), pods: [elsewhere] },
    'Failed PodGone',
  ],
  [
    'Scheduled → Failed: the Pod has ended and virt-handler is silent',
    { vmi: vmi('Scheduled', onNode), pods: [failed] },
    'Failed PodEnded',
  ],
  ['Scheduled stays: virt-handler owns the phase', { vmi: vmi('Scheduled', onNode), pods: [up] }, 'stays'],
  ['Running → Failed: the Pod no longer exists', { vmi: vmi('Running', onNode) }, 'Failed PodGone'],
  ['Running stays: its Pod is going, the guest may still power off', { vmi: vmi('Running', onNode), pods: [going] }, 'stays'],
  ['Succeeded stays, whatever happens to its Pod', { vmi: vmi('Succeeded', onNode) }, 'stays'],
  ['Failed stays, whatever happens to its Pod', { vmi: vmi('Failed', onNode), pods: [up] }, 'stays'],
  [
    'Running → Failed NodeUnresponsive: the node is silent and the Pod has ended',
    { vmi: vmi('Running', onNode), pods: [succeeded], isNodeLost: true },
    'Failed NodeUnresponsive',
  ],
  [
    'Running → Failed NodeUnresponsive: the node is silent and the Pod is gone',
    { vmi: vmi('Running', onNode), isNodeLost: true },
    'Failed NodeUnresponsive',
  ],
  [
    'Scheduled → Failed NodeUnresponsive: the node is silent and the Pod is gone',
    { vmi: vmi('Scheduled', onNode), isNodeLost: true },
    'Failed NodeUnresponsive',
  ],
  [
    'Running stays: the node is silent, but its Pod may be alive (fencing)',
    { vmi: vmi('Running', onNode), pods: [up], isNodeLost: true },
    'stays',
  ],
  ['Running stays: the node is silent and its Pod is going', { vmi: vmi('Running', onNode), pods: [going], isNodeLost: true }, 'stays'],
];

describe('phases that virt-controller changes', () => {
  for (const [name, seen, expected] of rows) {
    test(`phase ${name}`, () => {
      const change = nextPhaseOf({ pods: [], isVmGone: false, launcherImage: 'launcher', now, ...seen });
      assert.equal(change ? [change.phase, change.reason].filter(Boolean).join(' ') : 'stays', expected);
    });
  }
});
