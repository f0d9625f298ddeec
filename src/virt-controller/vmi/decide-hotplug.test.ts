import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { HotplugPhase } from '../../api/kubevirt/hotplug.ts';
import type { VirtualMachineInstance, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ATTACH_CONTAINER, attachmentPodNameOf } from '../../api/launcher/attachment.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { mergePatch } from '../../base/json.ts';
import { explain } from '../../reconcile/decision.ts';
import { launcherPod, reached, tinySpec, vmi } from '../../testing/builders.ts';
import { attachmentPodFor } from './attachment-pod.ts';
import { decideVmi } from './decide.ts';
import type { ObservedVmi } from './observed.ts';

const now = Date.parse('2026-01-01T00:01:00Z');
const at = '2026-01-01T00:00:00Z';
const launcher: Pod = {
  ...launcherPod({ running: { startedAt: at } }),
  status: {
    ...launcherPod({ running: { startedAt: at } }).status,
    conditions: [{ type: 'kubevirt.io/virtual-machine-unpaused', status: 'True', reason: 'NotPaused', message: 'The guest is not paused' }],
  },
};
const data = { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } };
const plugSpec = {
  ...tinySpec,
  domain: {
    ...tinySpec.domain,
    devices: { disks: [...(tinySpec.domain.devices.disks ?? []), { name: 'data', disk: { bus: 'scsi' as const } }] },
  },
  volumes: [...(tinySpec.volumes ?? []), data],
};
const claim = (phase: 'Bound' | 'Pending'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '64Mi' } } },
  status: { phase },
});
const machine = (spec = plugSpec): VirtualMachineInstance => ({
  ...vmi('Running', { ...reached('Scheduled', 'Running'), nodeName: 'n1', volumeStatus: [{ name: 'root', target: 'vda' }] }),
  spec,
});
const NAME = attachmentPodNameOf(machine(), 'data');

/** The instance with its Pods: what is decided is done, and what virt-handler and the kubelet would do is said by the test. */
class World {
  vmi = machine();
  attachments: Pod[] = [];
  claims: PersistentVolumeClaim | undefined = claim('Bound');
  isFilled = true;

  settle(): string[] {
    const lines: string[] = [];
    for (let pass = 0; pass < 20; pass++) {
      const decision = decideVmi(this.seen());
      const done = decision.actions.filter((action) => action.do !== 'record');
      if (done.length === 0) return lines;
      for (const action of done) {
        lines.push(...explain({ actions: [action] }).filter((line) => !/what is known of it has changed/.test(line)));
        if (action.do === 'patch' && action.target.kind === 'VirtualMachineInstance')
          this.vmi = mergePatch(this.vmi, action.patch) as VirtualMachineInstance;
        if (action.do === 'create') this.attachments = [action.object as Pod];
        if (action.do === 'delete') this.attachments = [];
      }
    }
    throw new Error('still changing');
  }

  seen(): ObservedVmi {
    const hotplugClaims = this.vmi.spec === plugSpec ? new Map([['data', this.claims]]) : undefined;
    const unfilledHotplugClaims = new Set(this.isFilled ? [] : ['data']);
    const claims = { hotplugClaims, unfilledHotplugClaims };
    return { vmi: this.vmi, pods: [launcher], attachments: this.attachments, ...claims, isVmGone: false, launcherImage: 'l', now };
  }

  /** What the kubelet says of the Pod. */
  podIs(state: object, phase: 'Running' | 'Failed'): void {
    this.attachments = this.attachments.map((pod) => ({
      ...pod,
      metadata: { ...pod.metadata, uid: 'pod-2' },
      status: { phase, containerStatuses: [{ name: ATTACH_CONTAINER, image: '', imageID: '', ready: true, restartCount: 0, state }] },
    }));
  }

  /** What virt-handler says. */
  phaseIs(phase: HotplugPhase): void {
    const volumeStatus = this.entries().map((each) => (each.name === 'data' ? { ...each, phase } : each));
    this.vmi = { ...this.vmi, status: { ...this.vmi.status, volumeStatus } };
  }

  entries(): NonNullable<VmiStatus['volumeStatus']> {
    return this.vmi.status?.volumeStatus ?? [];
  }

  entry() {
    return this.entries().find(({ name }) => name === 'data');
  }
}

test('a volume gets a Pod, is attached when that runs, and both go when it is out of the guest', () => {
  const world = new World();
  assert.deepEqual(world.settle(), [`create Pod default/${NAME}: volume data is to be attached`]);
  assert.deepEqual([world.entry()?.phase, world.entry()?.hotplugVolume], ['Bound', {}]);
  world.podIs({ running: { startedAt: at } }, 'Running');
  assert.deepEqual(world.settle(), []);
  assert.deepEqual(
    [world.entry()?.phase, world.entry()?.hotplugVolume],
    ['AttachedToNode', { attachPodName: NAME, attachPodUID: 'pod-2' }],
  );
  world.phaseIs('Ready');
  assert.deepEqual([world.settle(), world.entry()?.phase], [[], 'Ready']);
  world.vmi = { ...world.vmi, spec: tinySpec };
  assert.deepEqual([world.settle(), world.entry()?.phase], [[], 'Detaching']);
  world.phaseIs('UnMountedFromPod');
  assert.deepEqual(world.settle(), [`delete Pod default/${NAME}: volume data is out of the guest`]);
  assert.deepEqual(world.entries(), [{ name: 'root', target: 'vda' }]);
});

test('a claim that is not there is waited for, and told', () => {
  const world = new World();
  world.claims = undefined;
  assert.deepEqual(world.settle(), []);
  assert.deepEqual([world.entry()?.phase, world.entry()?.reason], ['Pending', 'FailedPvcNotFound']);
  assert.equal(decideVmi(world.seen()).lookAgainAfterMs, 1_000);
  world.claims = claim('Pending');
  assert.deepEqual(world.settle(), [`create Pod default/${NAME}: volume data is to be attached`]);
});

test('a claim that is still being filled gets no Pod, which would make an empty disk on it', () => {
  const world = new World();
  world.isFilled = false;
  assert.deepEqual(world.settle(), []);
  assert.deepEqual([world.entry()?.phase, world.entry()?.message], ['Bound', 'PVC data is not filled yet']);
  assert.equal(decideVmi(world.seen()).lookAgainAfterMs, 1_000);
  world.isFilled = true;
  assert.deepEqual(world.settle(), [`create Pod default/${NAME}: volume data is to be attached`]);
});

test('a Pod that has ended is told and tried again; one that was ready keeps its place', () => {
  const world = new World();
  world.settle();
  world.podIs({ terminated: { exitCode: 1, reason: 'Error', message: 'no lock', finishedAt: at } }, 'Failed');
  assert.deepEqual(world.settle(), [
    `delete Pod default/${NAME}: it has ended, and its volume is not attached`,
    `create Pod default/${NAME}: volume data is to be attached`,
  ]);
  world.podIs({ running: { startedAt: at } }, 'Running');
  world.settle();
  world.phaseIs('Ready');
  world.attachments = [];
  assert.deepEqual(world.settle(), [`create Pod default/${NAME}: volume data is to be attached`]);
  assert.equal(world.entry()?.phase, 'Ready');
});

test('a disk that another machine uses is told in the status, though each Pod that is tried runs for a moment', () => {
  const world = new World();
  world.settle();
  world.podIs({ running: { startedAt: at } }, 'Running');
  world.settle();
  const lock = 'Failed to get shared "write" lock\nIs another process using the image [base0]?';
  const message = `qemu-storage-daemon: --blockdev {"file":{"driver":"file"}}: ${lock}`;
  world.podIs({ terminated: { exitCode: 1, reason: 'Error', message, finishedAt: '2026-01-01T00:00:58Z' } }, 'Failed');
  world.settle();
  const told = ['AttachedToNode', 'HotplugFailed', `its disk is in use by another machine or Pod: ${lock}`];
  assert.deepEqual([world.entry()?.phase, world.entry()?.reason, world.entry()?.message], told);
  world.podIs({ running: { startedAt: at } }, 'Running');
  world.settle();
  assert.deepEqual([world.entry()?.phase, world.entry()?.reason, world.entry()?.message], told);
});

test('one that no virt-handler has touched goes without it; one that is wanted again waits until it is out', () => {
  const world = new World();
  world.settle();
  world.vmi = { ...world.vmi, spec: tinySpec };
  assert.deepEqual(world.settle(), [`delete Pod default/${NAME}: volume data is out of the guest`]);
  const other = new World();
  other.settle();
  other.podIs({ running: { startedAt: at } }, 'Running');
  other.settle();
  other.phaseIs('Detaching');
  assert.deepEqual([other.settle(), other.entry()?.phase], [[], 'Detaching']);
  other.phaseIs('UnMountedFromPod');
  assert.deepEqual(other.settle(), [
    `delete Pod default/${NAME}: volume data is out of the guest`,
    `create Pod default/${NAME}: volume data is to be attached`,
  ]);
});

test('the Pod mounts the one claim, runs on the node of the guest as its launcher does, and goes with that', () => {
  const claims = new Map([['data', claim('Bound')]]);
  const pod = attachmentPodFor(
    machine(),
    { volume: data, disk: { name: 'data', disk: { bus: 'scsi' } } },
    { launcher, image: 'l', claims },
  );
  assert.deepEqual(pod.metadata.ownerReferences, [controllerReferenceTo(launcher)]);
  assert.deepEqual(pod.metadata.labels, { 'kubevirt.io': 'hotplug-disk', 'kubevirt.io/created-by': 'vmi-1' });
  const [container] = pod.spec.containers;
  assert.deepEqual([pod.spec.containers.length, container?.name, container?.args], [1, 'hotplug-disk', ['attach']]);
  assert.deepEqual(
    pod.spec.volumes?.flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []),
    ['data'],
  );
  const { spec } = JSON.parse(container?.env?.find(({ name }) => name === LAUNCHER_VARIABLES.vmi)?.value ?? '{}');
  assert.deepEqual(spec.volumes, [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }]);
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n1'] }] };
  assert.deepEqual(pod.spec.affinity, { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } });
  assert.deepEqual([container?.securityContext?.capabilities, pod.spec.securityContext?.runAsUser], [{ drop: ['ALL'] }, 107]);
});
