/** virt-handler's rows of the phase table: each change of phase by name. Those of virt-controller are in virt-controller/vmi/phase.test.ts. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { tinySpec } from '../../testing/builders.ts';
import { decideDomain } from './decide.ts';
import type { ObservedDomain } from './observed.ts';
import { deleted, deleting, domain, endedPod, followed, gone, livePod, lost, now, running, scheduled } from './world.testing.ts';

const startPaused = { ...scheduled(), spec: { ...tinySpec, startStrategy: 'Paused' as const } };
const usual = { vmi: running(), pod: livePod(), followed, domain: domain('running'), now };

function copyingPod(): Pod {
  const pod = livePod();
  const containers = [
    { name: COMPUTE_CONTAINER, image: 'launcher', env: [{ name: LAUNCHER_VARIABLES.diskImages, value: '{"root":"an/image"}' }] },
  ];
  return { ...pod, spec: { ...pod.spec, containers } };
}

const rows: [name: string, seen: Partial<ObservedDomain>, expected: string][] = [
  ['Scheduled → Running: the guest runs', { vmi: scheduled() }, 'Running'],
  ['Scheduled → Running: the guest is paused', { vmi: scheduled(), domain: domain('paused') }, 'Running'],
  ['Scheduled → Running: the guest waits paused, as asked', { vmi: startPaused, domain: domain('prelaunch') }, 'Running'],
  ['Scheduled → Running: stopped by a disk error', { vmi: scheduled(), domain: domain('io-error') }, 'Running'],
  ['Scheduled stays: QEMU has not come yet', { vmi: scheduled(), domain: domain('absent', lost) }, 'stays'],
  [
    'Scheduled → Failed: QEMU never comes, 3 minutes',
    { vmi: scheduled(), domain: domain('absent', lost), now: now + 180_000 },
    'Failed LauncherUnresponsive',
  ],
  [
    'Scheduled stays: the launcher copies an image to a claim',
    { vmi: scheduled(), pod: copyingPod(), domain: domain('absent', lost), now: now + 180_000 },
    'stays',
  ],
  [
    'Scheduled → Failed: the copy takes an hour',
    { vmi: scheduled(), pod: copyingPod(), domain: domain('absent', lost), now: now + 3_600_000 },
    'Failed LauncherUnresponsive',
  ],
  [
    'Scheduled → Failed: the launcher ended',
    { vmi: scheduled(), pod: endedPod(1), domain: domain('absent', lost) },
    'Failed LauncherFailed',
  ],
  [
    'Scheduled → Failed: deleted before the guest ran',
    { ...deleting(0), vmi: deleted(30, scheduled()), domain: domain('absent', lost) },
    'Failed DeletedBeforeStart',
  ],
  ['Running stays: the guest runs, is paused or does not answer', { domain: domain('unresponsive') }, 'stays'],
  ['Running → Succeeded: the guest powered off', { domain: domain('shutdown') }, 'Succeeded'],
  ['Running → Succeeded: the guest powered off when asked to', { ...deleting(3_000), domain: domain('shutdown') }, 'Succeeded'],
  [
    'Running → Succeeded: the guest powered off because its Pod was deleted',
    { pod: { ...livePod(), metadata: { ...livePod().metadata, deletionTimestamp: '2026-01-01T00:00:35Z' } }, domain: domain('shutdown') },
    'Succeeded PodDeleted',
  ],
  ['Running → Succeeded: cut off with grace period 0', { ...deleting(0), vmi: deleted(0) }, 'Succeeded'],
  ['Running → Failed: cut off at the end of the grace period', deleting(30_000), 'Failed GracePeriodExpired'],
  ['Running → Failed: the guest panicked', { domain: domain('panicked') }, 'Failed GuestPanicked'],
  ['Running → Failed: a watchdog ended the guest', { domain: domain('watchdog') }, 'Failed GuestHung'],
  ['Running → Failed: QEMU was killed', { domain: domain('running', gone) }, 'Failed QEMUExited'],
  ['Running → Failed: the launcher Pod ended', { pod: endedPod(137), domain: domain('running', lost) }, 'Failed QEMUExited'],
  ['Running → Failed: the launcher Pod was removed by force', { pod: undefined }, 'Failed QEMUExited'],
];

describe('phases that virt-handler changes', () => {
  for (const [name, seen, expected] of rows) {
    test(`phase ${name}`, () => {
      const writes = decideDomain({ ...usual, ...seen }).actions.flatMap((action) => (action.do === 'patch' ? [action.patch] : []));
      const { phase, reason } = (writes[0] as { status?: { phase?: string; reason?: string } } | undefined)?.status ?? {};
      assert.equal(phase ? [phase, reason].filter(Boolean).join(' ') : 'stays', expected);
    });
  }
});
