import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { explain } from '../../reconcile/decision.ts';
import { tinySpec, vmi } from '../../testing/builders.ts';
import { claimNamesOf, newDiskBytes } from './claims.ts';
import { decideVmi } from './decide.ts';
import { launcherPodFor } from './launcher-pod.ts';
import { deriveVmiStatus } from './status.ts';

const spec: VmiSpec = {
  ...tinySpec,
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'data-claim' } },
    { name: 'golden', ephemeral: { persistentVolumeClaim: { claimName: 'golden-claim' } } },
  ],
};
const machine = { ...vmi('Pending'), spec };
const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name: 'data-claim' },
  spec: { resources: { requests: { storage: '1Gi' } } },
};
const present = new Map([
  ['data-claim', claim],
  ['golden-claim', claim],
]);
const missing = new Map([['data-claim', undefined]]);
const message = 'PVC default/data-claim does not exist, waiting for it to appear';

test('an instance names each claim once', () => {
  assert.deepEqual(claimNamesOf({ ...spec, volumes: [...(spec.volumes ?? []), ...(spec.volumes ?? [])] }), ['data-claim', 'golden-claim']);
});

test('a new disk takes what the claim has, less the reserve; a claim that is not bound yet gets what it asks for', () => {
  const capacity = { storage: '2Gi' };
  const bound = new Map([['data-claim', { ...claim, status: { phase: 'Bound', capacity } } as const]]);
  assert.deepEqual(newDiskBytes(spec, present), { data: 967 * 2 ** 20 });
  assert.deepEqual(newDiskBytes(spec, bound), { data: 1935 * 2 ** 20 });
});

test('the Pod mounts claims, and only reads the one beneath an overlay', () => {
  const { spec: pod } = launcherPodFor(machine, { image: 'launcher', claims: present });
  assert.deepEqual(pod.volumes?.slice(2), [
    { name: 'claim-data', persistentVolumeClaim: { claimName: 'data-claim' } },
    { name: 'claim-golden', persistentVolumeClaim: { claimName: 'golden-claim' } },
  ]);
  assert.deepEqual(pod.containers[0]?.volumeMounts?.slice(2), [
    { name: 'claim-data', mountPath: '/var/run/kubevirt-vmi-disks/data' },
    { name: 'claim-golden', mountPath: '/var/run/kubevirt-vmi-disks/golden', readOnly: true },
  ]);
  assert.equal(pod.containers[0]?.env?.find(({ name }) => name === 'KUBEVIRT_NEW_DISK_BYTES')?.value, '{"data":1013972992}');
});

test('a claim that names an image brings it into the Pod, unless the volume is only read', () => {
  const filled = { ...claim, metadata: { ...claim.metadata, annotations: { 'kubevirt.io/disk-image': 'registry/disk:1' } } };
  const claims = new Map([
    ['data-claim', filled],
    ['golden-claim', filled],
  ]);
  const { spec: pod } = launcherPodFor(machine, { image: 'launcher', claims });
  assert.deepEqual(pod.volumes?.slice(2, 4), [
    { name: 'claim-data', persistentVolumeClaim: { claimName: 'data-claim' } },
    { name: 'disk-data', image: { reference: 'registry/disk:1', pullPolicy: 'IfNotPresent' } },
  ]);
  assert.equal(pod.containers[0]?.env?.find(({ name }) => name === 'KUBEVIRT_DISK_IMAGES')?.value, '{"data":"registry/disk:1"}');
  const beside = launcherPodFor(machine, { image: 'launcher', claims, containerDisks: 'container' }).spec;
  assert.deepEqual(beside.containers.map(({ name, image }) => [name, image]).slice(1), [['volumedata', 'registry/disk:1']]);
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: 'data-claim', readOnly: true } }];
  const reader = launcherPodFor({ ...machine, spec: { ...spec, volumes } }, { image: 'launcher', claims }).spec;
  assert.equal(reader.volumes?.length, 3);
});

const byDataVolume = { ...machine, spec: { ...spec, volumes: [{ name: 'data', dataVolume: { name: 'data-claim' } }] } };

test('the claim of a DataVolume is mounted as one that is named itself', () => {
  const { spec: pod } = launcherPodFor(byDataVolume, { image: 'launcher', claims: present });
  assert.deepEqual(claimNamesOf(byDataVolume.spec), ['data-claim']);
  assert.deepEqual(pod.volumes?.slice(2), [{ name: 'claim-data', persistentVolumeClaim: { claimName: 'data-claim' } }]);
  assert.equal(pod.containers[0]?.env?.find(({ name }) => name === 'KUBEVIRT_NEW_DISK_BYTES')?.value, '{"data":1013972992}');
});

for (const [by, waiting] of [['claimName', machine] as const, ['the name of a DataVolume', byDataVolume] as const])
  test(`an instance waits for a claim that is missing (by ${by}), tells so once, and goes on when it appears`, () => {
    const observed = { vmi: waiting, pods: [], isVmGone: false, launcherImage: 'launcher', claims: missing, now: 0 };
    assert.deepEqual(explain(decideVmi(observed)), [
      'patch VirtualMachineInstance default/db: what is known of it has changed',
      `record event FailedPvcNotFound: ${message}`,
      'look again in 1s',
    ]);
    const told = { ...observed, vmi: { ...waiting, status: deriveVmiStatus(observed, undefined) } };
    assert.deepEqual(explain(decideVmi(told)), ['look again in 1s']);
    const [create] = decideVmi({ ...told, claims: present }).actions.filter((action) => action.do === 'create');
    assert.equal(create?.because, 'VMI is Pending');
  });

test('once its guest has run from its disk, a claim is marked and the next start needs no image; a copy of the claim does', () => {
  const filled = {
    ...claim,
    metadata: { ...claim.metadata, uid: 'claim-1', annotations: { 'kubevirt.io/disk-image': 'registry/disk:1' } },
  };
  const claims = new Map([['data-claim', filled]]);
  const running = { ...machine, status: { ...machine.status, phase: 'Running' as const } };
  const observed = { vmi: running, pods: [], isVmGone: false, launcherImage: 'launcher', claims, now: 0 };
  const [mark] = decideVmi(observed).actions.filter((action) => action.do === 'patch' && action.target.kind === 'PersistentVolumeClaim');
  assert.deepEqual(mark?.do === 'patch' && mark.patch, { metadata: { annotations: { 'kubevirt.io/disk-made': 'claim-1' } } });
  const imagesOf = (uid: string) => {
    const marked = {
      ...filled,
      metadata: { ...filled.metadata, uid, annotations: { ...filled.metadata.annotations, 'kubevirt.io/disk-made': 'claim-1' } },
    };
    const { spec: pod } = launcherPodFor(machine, { image: 'launcher', claims: new Map([['data-claim', marked]]) });
    return pod.volumes?.filter(({ image }) => image).length;
  };
  assert.deepEqual([imagesOf('claim-1'), imagesOf('claim-2')], [0, 1]);
});
