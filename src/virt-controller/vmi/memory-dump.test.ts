import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpEntryOf } from '../../api/kubevirt/memory-dump.ts';
import { dumpVolumeFor } from '../../api/kubevirt/volumes/dump-volume.ts';
import { DUMP_CONTAINER, dumpPodNameOf } from '../../api/launcher/memory-dump.ts';
import { DUMP_VOLUME } from '../../api/launcher/mounts.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, reached, vmi } from '../../testing/builders.ts';
import { decideVmi } from './decide.ts';
import type { ObservedVmi } from './observed.ts';

type Phase = NonNullable<NonNullable<VmiStatus['volumeStatus']>[number]['phase']>;
const now = Date.parse('2026-01-01T00:01:00Z');
const at = '2026-01-01T00:00:00Z';
const launcher: Pod = {
  ...launcherPod({ running: { startedAt: at } }),
  status: {
    ...launcherPod({ running: { startedAt: at } }).status,
    conditions: [{ type: 'kubevirt.io/virtual-machine-unpaused', status: 'True', reason: 'NotPaused', message: 'The guest is not paused' }],
  },
};
const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'dump', namespace: 'default' },
  spec: { resources: { requests: { storage: '1Gi' } } },
  status: { phase: 'Bound' },
};
const started = vmi('Running', { ...reached('Scheduled', 'Running'), nodeName: 'n1', volumeStatus: [{ name: 'root', target: 'vda' }] });
const NAME = dumpPodNameOf(started);

/** The instance with its Pods: what is decided is done, and what virt-handler and the kubelet would do is said by the test. */
class World {
  vmi = this.with(true);
  pods: Pod[] = [];
  claim: PersistentVolumeClaim | undefined = claim;
  now = now;

  with(isIn: boolean, from: VirtualMachineInstance = started): VirtualMachineInstance {
    return { ...from, spec: { ...from.spec, volumes: [...(started.spec.volumes ?? []), ...(isIn ? [dumpVolumeFor('dump')] : [])] } };
  }

  settle(): string[] {
    const lines: string[] = [];
    for (let pass = 0; pass < 20; pass++) {
      const done = decideVmi(this.seen()).actions.filter((action) => action.do !== 'record');
      if (done.length === 0) return lines;
      for (const action of done) {
        lines.push(...explain({ actions: [action] }).filter((line) => !/what is known of it has changed/.test(line)));
        if (action.do === 'patch') this.vmi = mergePatch(this.vmi, action.patch) as VirtualMachineInstance;
        if (action.do === 'create') this.pods = [action.object as Pod];
        if (action.do === 'delete') this.pods = [];
      }
    }
    throw new Error('still changing');
  }

  seen(): ObservedVmi {
    return {
      vmi: this.vmi,
      pods: [launcher],
      attachments: this.pods,
      dumpClaim: this.claim,
      isVmGone: false,
      launcherImage: 'l',
      now: this.now,
    };
  }

  /** What the kubelet says of the Pod. */
  podIs(phase: 'Running' | 'Failed' | 'Pending', state: object): void {
    this.pods = this.pods.map((pod) => ({
      ...pod,
      metadata: { ...pod.metadata, uid: 'pod-2', creationTimestamp: at },
      status: { phase, containerStatuses: [{ name: DUMP_CONTAINER, image: '', imageID: '', ready: true, restartCount: 0, state }] },
    }));
  }

  /** What virt-handler says. */
  phaseIs(phase: Phase): void {
    const volumeStatus = (this.vmi.status?.volumeStatus ?? []).map((each) => (each.memoryDumpVolume ? { ...each, phase } : each));
    this.vmi = { ...this.vmi, status: { ...this.vmi.status, volumeStatus } };
  }

  leave(): void {
    this.vmi = this.with(false, this.vmi);
  }

  entry() {
    return dumpEntryOf(this.vmi);
  }
}

const CREATE = `create Pod default/${NAME}: the memory of the guest is to be dumped`;
const DELETE = `delete Pod default/${NAME}: no memory is being dumped`;

/** Up to the moment when virt-handler takes over. */
function attached(): World {
  const world = new World();
  world.settle();
  world.podIs('Running', { running: { startedAt: at } });
  world.settle();
  return world;
}

test('a Pod with the PVC comes, virt-handler is told of it, and it goes when the dump is made; then nothing is left of it', () => {
  const world = new World();
  assert.deepEqual(world.settle(), [CREATE]);
  assert.deepEqual([world.entry()?.phase, world.entry()?.memoryDumpVolume], ['Bound', { claimName: 'dump' }]);
  const [pod] = world.pods;
  assert.deepEqual(pod?.spec.volumes?.at(-1), { name: DUMP_VOLUME.name, persistentVolumeClaim: { claimName: 'dump' } });
  world.podIs('Running', { running: { startedAt: at } });
  assert.deepEqual(world.settle(), []);
  assert.deepEqual(
    [world.entry()?.phase, world.entry()?.hotplugVolume],
    ['AttachedToNode', { attachPodName: NAME, attachPodUID: 'pod-2' }],
  );
  world.phaseIs('MemoryDumpInProgress');
  assert.deepEqual(world.settle(), []);
  world.phaseIs('MemoryDumpCompleted');
  assert.deepEqual(world.settle(), [DELETE]);
  world.leave();
  assert.deepEqual(world.settle(), []);
  assert.deepEqual(world.vmi.status?.volumeStatus, [{ name: 'root', target: 'vda' }]);
});

test('a PVC that is not there is waited for', () => {
  const world = new World();
  world.claim = undefined;
  assert.deepEqual(world.settle(), []);
  assert.deepEqual([world.entry()?.phase, world.entry()?.reason], ['Pending', 'FailedPvcNotFound']);
  world.claim = claim;
  assert.deepEqual(world.settle(), [CREATE]);
});

test('one that nobody wants any more goes: at once, or when virt-handler has let go', () => {
  const early = new World();
  early.settle();
  early.leave();
  assert.deepEqual(early.settle(), [DELETE]);
  assert.equal(early.entry(), undefined);
  for (const phase of ['AttachedToNode', 'MemoryDumpInProgress'] as const) {
    const world = attached();
    world.phaseIs(phase);
    world.leave();
    assert.deepEqual([world.settle(), world.entry()?.phase], [[], 'Detaching']);
    world.phaseIs('UnMountedFromPod');
    assert.deepEqual([world.settle(), world.entry()], [[DELETE], undefined]);
  }
});

test('a Pod that ends, that is gone, or that does not come up, is a failure with its reason', () => {
  const ended = attached();
  ended.podIs('Failed', { terminated: { exitCode: 1, message: 'error[VOLUME_MISSING]: not mounted\n' } });
  assert.deepEqual(ended.settle(), [DELETE]);
  assert.equal(ended.entry()?.message, 'the Pod that writes it ended: error[VOLUME_MISSING]: not mounted');
  const gone = attached();
  gone.pods = [];
  gone.settle();
  assert.deepEqual([gone.entry()?.phase, gone.entry()?.message], ['MemoryDumpFailed', 'the Pod that writes it is gone']);
  const late = new World();
  late.settle();
  late.podIs('Pending', { waiting: { reason: 'ContainerCreating', message: 'the volume is elsewhere' } });
  late.now = now + 120_000;
  late.settle();
  assert.equal(late.entry()?.message, 'the Pod that writes it is not ready after 120 s: the volume is elsewhere');
});
