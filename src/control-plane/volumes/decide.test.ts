import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideClaim, type ObservedClaim } from './decide-claim.ts';
import { decideVolume, type ObservedVolume } from './decide-volume.ts';
import { claim, storageClass, volume } from './volume.testing.ts';

const deleting = { deletionTimestamp: '2026-01-01T00:00:00Z' };
const ours = { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/local' };
const shared = { 'pv.kubernetes.io/provisioned-by': 'kubevirt-ts.io/shared-folder' };
const mine = { claimRef: { uid: 'claim-1', name: 'data', namespace: 'default' } };
const bound = { phase: 'Bound' } as const;

function user(phase: 'Running' | 'Succeeded'): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { containers: [] }, status: { phase } };
}

function forClaim(observed: Partial<ObservedClaim>): string[] {
  return explain(decideClaim({ claim: claim(), volumes: [], classes: [storageClass()], pods: [], volumesDir: '/v', ...observed }));
}

const has1Gi = { phase: 'Bound', capacity: { storage: '1Gi' } } as const;
const wants2Gi = { resources: { requests: { storage: '2Gi' } } };

const TOO_LARGE = "a volume of 2Gi is too large for the file system of the cluster's data folder: at most 1083Mi";
const refused = { ...has1Gi, conditions: [{ type: 'ControllerResizeError', status: 'True', message: TOO_LARGE }] };

const CLAIM_RULES: readonly [fact: string, observed: Partial<ObservedClaim>, expected: readonly string[]][] = [
  [
    'a claim that asks for more than its volume has grows, and the volume with it',
    { claim: claim(wants2Gi, has1Gi), volumes: [volume(mine, bound, { annotations: ours })] },
    [
      'patch PersistentVolume /v1: it was asked to grow to 2Gi',
      'patch PersistentVolumeClaim status default/data: it was asked to grow to 2Gi',
    ],
  ],
  [
    'a claim that asks for more than a file can be is told how large it may be, and keeps what it has',
    { claim: claim(wants2Gi, has1Gi), volumes: [volume(mine, bound, { annotations: ours })], largestFileBytes: 2 ** 30 },
    [`patch PersistentVolumeClaim status default/data: ${TOO_LARGE}`],
  ],
  [
    'that is said once',
    { claim: claim(wants2Gi, refused), volumes: [volume(mine, bound, { annotations: ours })], largestFileBytes: 2 ** 30 },
    [],
  ],
  [
    'a refused claim that asks for what it has is not refused any more',
    { claim: claim({}, refused), volumes: [volume(mine, bound, { annotations: ours })], largestFileBytes: 2 ** 30 },
    ['patch PersistentVolumeClaim status default/data: it asks for no more than it has'],
  ],
  [
    'a new claim that no file can be large enough for gets no volume',
    { claim: claim(wants2Gi), largestFileBytes: 2 ** 30 },
    [`record event ProvisioningFailed: ${TOO_LARGE}`],
  ],
  ['a volume that somebody else made does not grow', { claim: claim(wants2Gi, has1Gi), volumes: [volume(mine, bound)] }, []],
  [
    'a claim that has what it asks for is left alone',
    { claim: claim({}, has1Gi), volumes: [volume(mine, bound, { annotations: ours })] },
    [],
  ],
  [
    'a new claim is protected first',
    { claim: claim({}, undefined, { finalizers: [] }) },
    ['patch PersistentVolumeClaim default/data: a PVC in use must outlive its deletion'],
  ],
  ['a deleted claim stays while a Pod uses it', { claim: claim({}, bound, deleting), pods: [user('Running')] }, []],
  [
    'a deleted claim goes when its last Pod has ended',
    { claim: claim({}, bound, deleting), pods: [user('Succeeded')] },
    ['patch PersistentVolumeClaim default/data: nobody uses it'],
  ],
  [
    'a claim without a class gets the default one',
    { claim: claim({ storageClassName: undefined }) },
    ['patch PersistentVolumeClaim default/data: local is the default class'],
  ],
  [
    'a claim that wants no class waits for a volume without one',
    { claim: claim({ storageClassName: '' }), volumes: [volume()] },
    ['record event FailedBinding: no persistent volumes available for this claim and no storage class is set'],
  ],
  [
    'the smallest volume that fits is taken',
    {
      volumes: [
        volume({ capacity: { storage: '8Gi' } }, undefined, { name: 'big' }),
        volume({ capacity: { storage: '512Mi' } }, undefined, { name: 'small' }),
        volume(),
      ],
    },
    ['patch PersistentVolume /v1: it is reserved for default/data'],
  ],
  ['a class of ours makes a volume', {}, ['create PersistentVolume /pvc-claim-1: a PVC of class local has no volume']],
  [
    'a volume of other modes does not fit, so one is made',
    { claim: claim({ accessModes: ['ReadWriteMany'] }), volumes: [volume()] },
    ['create PersistentVolume /pvc-claim-1: a PVC of class local has no volume'],
  ],
  [
    'a volume that refers to the claim is bound to it',
    { volumes: [volume(mine)] },
    ['patch PersistentVolumeClaim default/data: it gets v1', 'patch PersistentVolumeClaim status default/data: v1 is its volume'],
  ],
  ['a bound claim is left alone', { claim: claim({ volumeName: 'v1' }, bound), volumes: [volume(mine)] }, []],
  [
    'a bound claim whose volume is gone is lost',
    { claim: claim({ volumeName: 'v1' }, bound) },
    ['patch PersistentVolumeClaim status default/data: its volume is gone'],
  ],
  [
    'a class that is not there is named',
    { classes: [] },
    ['record event ProvisioningFailed: storageclass.storage.k8s.io "local" not found'],
  ],
  [
    "somebody else's class is waited for",
    { classes: [storageClass(true, 'example.com/nfs')] },
    ["record event ExternalProvisioning: Waiting for a volume to be created by the external provisioner 'example.com/nfs'"],
  ],
  [
    'a claim in Block mode gets a volume, whose device is a file in its folder',
    { claim: claim({ volumeMode: 'Block' }) },
    ['create PersistentVolume /pvc-claim-1: a PVC of class local has no volume'],
  ],
  [
    'a claim for a volume that is taken says so',
    { claim: claim({ volumeName: 'v1' }), volumes: [volume({ claimRef: { uid: 'other' } }, bound)] },
    ['record event FailedBinding: volume "v1" is not there, not free or does not fit'],
  ],
];

for (const [fact, observed, expected] of CLAIM_RULES) test(fact, () => assert.deepEqual(forClaim(observed), expected));

type Case = readonly [
  fact: string,
  observed: Omit<ObservedVolume, 'isBeingRemoved'> & Partial<ObservedVolume>,
  expected: readonly string[],
];
const toDelete = { ...mine, persistentVolumeReclaimPolicy: 'Delete' } as const;
const VOLUME_RULES: readonly Case[] = [
  [
    'a volume without claim is Available',
    { volume: volume({}, {}), claim: undefined, hasFolder: false },
    ['patch PersistentVolume status /v1: it is Available'],
  ],
  [
    'a volume with a claim is Bound',
    { volume: volume(mine), claim: claim(), hasFolder: true },
    ['patch PersistentVolume status /v1: it is Bound'],
  ],
  [
    'a claim of the same name and another uid is another claim',
    { volume: volume(mine, bound), claim: claim({}, bound, { uid: 'claim-2' }), hasFolder: true },
    ['patch PersistentVolume status /v1: it is Released'],
  ],
  [
    'a released volume of ours is deleted',
    { volume: volume(toDelete, { phase: 'Released' }, { annotations: ours }), claim: undefined, hasFolder: true },
    ['delete PersistentVolume /v1: its PVC is gone and its reclaim policy is Delete'],
  ],
  [
    'a released folder of the host is shared with nobody any more, and stays as it is',
    { volume: volume(mine, { phase: 'Released' }, { annotations: shared }), claim: undefined, hasFolder: false },
    ['delete PersistentVolume /v1: its PVC is gone: the folder is shared with nobody'],
  ],
  [
    'nothing in a folder of the host is removed, whatever its reclaim policy says',
    { volume: volume(toDelete, { phase: 'Released' }, { annotations: shared, ...deleting }), claim: undefined, hasFolder: true },
    ['patch PersistentVolume /v1: no PVC holds it'],
  ],
  ['a released volume of others stays', { volume: volume(toDelete, { phase: 'Released' }), claim: undefined, hasFolder: true }, []],
  [
    'a deleted volume waits until its data is removed',
    { volume: volume(toDelete, { phase: 'Released' }, { annotations: ours, ...deleting }), claim: undefined, hasFolder: true },
    ['remove data: its PVC is gone', 'look again in 0.1s'],
  ],
  [
    'the data of a volume is removed once',
    {
      volume: volume(toDelete, { phase: 'Released' }, { annotations: ours, ...deleting }),
      claim: undefined,
      hasFolder: true,
      isBeingRemoved: true,
    },
    ['look again in 0.1s'],
  ],
  [
    'a deleted volume goes when its data is gone',
    { volume: volume(toDelete, { phase: 'Released' }, { annotations: ours, ...deleting }), claim: undefined, hasFolder: false },
    ['patch PersistentVolume /v1: no PVC holds it'],
  ],
  [
    'data that is to be retained is kept when the volume goes',
    {
      volume: volume({ ...mine, persistentVolumeReclaimPolicy: 'Retain' }, { phase: 'Released' }, { annotations: ours, ...deleting }),
      claim: undefined,
      hasFolder: true,
    },
    ['patch PersistentVolume /v1: no PVC holds it'],
  ],
  [
    'a bound volume outlives its deletion',
    { volume: volume(toDelete, bound, { annotations: ours, ...deleting }), claim: claim(), hasFolder: true },
    [],
  ],
];

for (const [fact, observed, expected] of VOLUME_RULES) {
  test(fact, () => assert.deepEqual(explain(decideVolume({ isBeingRemoved: false, ...observed })), expected));
}
