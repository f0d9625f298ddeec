import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { IMPORT_VARIABLE, importerPodNameOf } from '../../api/importer/importer-pod.ts';
import type { DataVolume, DataVolumeSpec, DataVolumeStatus } from '../../api/kubevirt/kinds/data-volume.ts';
import { conditionOf } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { Cluster } from '../cluster.testing.ts';
import { claimFor } from './claim-for.ts';
import { decideDataVolume } from './decide.ts';
import { importerPodFor } from './importer-pod.ts';
import type { ObservedDataVolume } from './observed.ts';
import { deriveDataVolumeStatus } from './status.ts';

const importer = { image: 'importer', way: 'image-volume' } as const;
const GIB = { resources: { requests: { storage: '1Gi' } } };
const HTTP = { http: { url: 'http://disks/x.qcow2' } };
const PVC = { pvc: { namespace: 'default', name: 'golden' } };

function dataVolume(source: DataVolumeSpec['source'] = HTTP, status?: DataVolumeStatus): DataVolume {
  return {
    apiVersion: 'cdi.kubevirt.io/v1beta1',
    kind: 'DataVolume',
    metadata: { name: 'root', namespace: 'default', uid: 'dv-1', resourceVersion: '1' },
    spec: { ...(source && { source }), storage: GIB },
    ...(status && { status }),
  };
}

function claim(phase: 'Bound' | 'Pending', owner: string | undefined = 'dv-1', name = 'root'): PersistentVolumeClaim {
  const ownerReferences = owner
    ? [{ apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'root', uid: owner, controller: true, blockOwnerDeletion: true }]
    : [];
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', uid: `${name}-claim`, resourceVersion: '1', ownerReferences },
    spec: { resources: { requests: { storage: '1Gi' } } },
    status: { phase, capacity: { storage: '1Gi' } },
  };
}

function pod(phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed', state: object = {}, more: object = {}): Pod {
  const status = { name: 'importer', image: 'i', imageID: '', ready: false, restartCount: 0, state, ...more };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: importerPodNameOf(dataVolume()), namespace: 'default', uid: 'pod-1' },
    spec: { containers: [] },
    status: { phase, containerStatuses: [status] },
  };
}

const ended = (message: string) => ({ terminated: { exitCode: 1, reason: 'Error', message } });

function look(seen: Partial<ObservedDataVolume>): ObservedDataVolume {
  return { dataVolume: dataVolume(), importer, isLate: false, now: 0, ...seen };
}

const STATUS = 'patch DataVolume status default/root';
const succeeded = { phase: 'Succeeded', progress: '100.0%' };
const rules: [string, Partial<ObservedDataVolume>, string[]][] = [
  [
    'its PVC is made first',
    {},
    [`${STATUS}: it is Pending`, 'create PersistentVolumeClaim default/root: the DataVolume has none', 'look again in 1s'],
  ],
  [
    'its Pod is made when there is a PVC, which need not be bound: the Pod is its first user',
    { claim: claim('Pending') },
    [`${STATUS}: it is ImportScheduled`, 'create Pod default/importer-root-dv-1: its PVC is to be filled', 'look again in 1s'],
  ],
  [
    'a Pod that runs is waited for',
    { claim: claim('Bound'), pod: pod('Running', { running: {} }) },
    [`${STATUS}: it is ImportInProgress`, 'look again in 1s'],
  ],
  [
    'a Pod that has succeeded goes, and the PVC says so',
    { claim: claim('Bound'), pod: pod('Succeeded', { terminated: { exitCode: 0, reason: 'Completed' } }) },
    [
      `${STATUS}: it is Succeeded`,
      'patch PersistentVolumeClaim default/root: it is filled',
      'delete Pod default/importer-root-dv-1: the volume is filled',
    ],
  ],
  [
    'a Pod that was evicted is made again',
    { claim: claim('Bound'), pod: pod('Failed') },
    [`${STATUS}: it is ImportScheduled`, 'delete Pod default/importer-root-dv-1: it ended', 'look again in 1s'],
  ],
  [
    'the PVC of somebody else is not touched',
    { claim: claim('Bound', 'another') },
    [`${STATUS}: PVC root is there already, and is not of this DataVolume`, 'look again in 5s'],
  ],
  [
    'a PVC that a Pod uses is not copied',
    { dataVolume: dataVolume(PVC), source: claim('Bound', undefined, 'golden'), sourceUser: 'virt-launcher-x' },
    [`${STATUS}: Pod virt-launcher-x uses PVC golden: stop its machine`, 'look again in 5s'],
  ],
  [
    'a PVC that is not filled yet is not copied',
    { dataVolume: dataVolume(PVC), source: claim('Bound', 'another', 'golden'), claim: claim('Bound'), isSourceUnfilled: true },
    [`${STATUS}: PVC golden is not filled yet`, 'look again in 5s'],
  ],
  ['a PVC that is not there is waited for', { dataVolume: dataVolume(PVC) }, [`${STATUS}: PVC golden is not there`, 'look again in 5s']],
  [
    'an empty disk needs no Pod',
    { dataVolume: dataVolume({ blank: {} }), claim: claim('Bound') },
    [`${STATUS}: it is Succeeded`, 'patch PersistentVolumeClaim default/root: it is filled'],
  ],
  [
    'an empty disk waits for its first user where its class does',
    { dataVolume: dataVolume({ blank: {} }), claim: claim('Pending'), isLate: true },
    [`${STATUS}: it is WaitForFirstConsumer`, 'look again in 1s'],
  ],
  ['a PVC that is lost after it was filled is not filled again', { dataVolume: dataVolume(HTTP, succeeded) }, [`${STATUS}: it is Failed`]],
  [
    'nothing happens to one that is being deleted',
    { dataVolume: { ...dataVolume(), metadata: { ...dataVolume().metadata, deletionTimestamp: 'x' } } },
    [],
  ],
];

describe('decideDataVolume', () => {
  for (const [fact, seen, lines] of rules) test(fact, () => assert.deepEqual(explain(decideDataVolume(look(seen))), lines));
});

const statusAfter = (seen: Partial<ObservedDataVolume>): DataVolumeStatus => {
  const [write] = decideDataVolume(look(seen)).actions;
  return write?.do === 'patch' ? (write.patch as { status: DataVolumeStatus }).status : {};
};
const running = (seen: Partial<ObservedDataVolume>) => {
  const { status, reason, message } = conditionOf(statusAfter(seen).conditions, 'Running') ?? {};
  return [status, reason, message];
};

describe('its status', () => {
  const filling = { claim: claim('Bound'), pod: pod('Running', { running: {} }) };

  test('progress is what the importer says, and stays when it says nothing', () => {
    assert.equal(statusAfter({ ...filling, progress: { doneBytes: 1, totalBytes: 3 } }).progress, '33.33%');
    assert.equal(statusAfter({ ...filling, dataVolume: dataVolume(HTTP, { progress: '12.00%' }) }).progress, undefined);
    assert.equal(statusAfter({ claim: claim('Bound') }).progress, 'N/A');
  });

  test('why it fails is the last line of the importer', () => {
    const line = 'error[DIGEST_MISMATCH]: it is not what it should be';
    const failing = pod('Running', { waiting: { reason: 'CrashLoopBackOff' } }, { restartCount: 2, lastState: ended(`first\n${line}\n`) });
    assert.deepEqual(running({ claim: claim('Bound'), pod: failing }), ['False', 'Error', line]);
    assert.deepEqual(statusAfter({ claim: claim('Bound'), pod: failing }).restartCount, 2);
    assert.equal(statusAfter({ claim: claim('Bound'), pod: failing }).phase, 'ImportInProgress');
  });

  test('an image that cannot be pulled is ImagePullFailed', () => {
    const failing = pod('Pending', { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } });
    assert.deepEqual(running({ claim: claim('Bound'), pod: failing }), ['False', 'ImagePullFailed', 'no such image']);
  });

  test('a copy has the words of one', () => {
    const source = claim('Bound', undefined, 'golden');
    assert.equal(statusAfter({ dataVolume: dataVolume(PVC), source, claim: claim('Bound') }).phase, 'CloneScheduled');
  });
});

describe('what is made for it', () => {
  test('a PVC for a disk is larger than the disk by what a file system needs', () => {
    const made = claimFor({ dataVolume: dataVolume() });
    assert.equal(made?.spec.resources?.requests?.['storage'], String(1084 * 2 ** 20));
    assert.deepEqual(made?.spec.accessModes, ['ReadWriteOnce']);
  });

  test('a PVC is made as it was asked for, and a copy that says nothing is as large as its source', () => {
    const { storage: _, ...spec } = dataVolume().spec;
    assert.equal(claimFor({ dataVolume: { ...dataVolume(), spec: { ...spec, pvc: GIB } } })?.spec.resources?.requests?.['storage'], '1Gi');
    const copy = { ...dataVolume(PVC), spec: { source: PVC, storage: {} } };
    assert.equal(claimFor({ dataVolume: copy }), undefined);
    assert.equal(claimFor({ dataVolume: copy, source: claim('Bound') })?.spec.resources?.requests?.['storage'], '1Gi');
  });

  test('no text of an address is expanded by a kubelet', () => {
    const made = importerPodFor({
      dataVolume: dataVolume({ http: { url: 'http://disks/$(POD_IP)' } }),
      claim: claim('Bound'),
      source: undefined,
      importer,
    });
    const value = made?.spec.containers[0]?.env?.find(({ name }) => name === IMPORT_VARIABLE)?.value ?? '';
    assert.deepEqual([value.includes('$'), JSON.parse(value).url], [false, 'http://disks/$(POD_IP)']);
  });

  test('an image is mounted where the cluster can, and pulled by the importer where it cannot', () => {
    const of = (way: 'image-volume' | 'container') =>
      importerPodFor({
        dataVolume: dataVolume({ registry: { url: 'docker://quay.io/disks/x:1' } }),
        claim: claim('Bound'),
        source: undefined,
        importer: { image: 'i', way },
      })?.spec.volumes?.map(({ image }) => image?.reference);
    assert.deepEqual([of('image-volume'), of('container')], [[undefined, 'quay.io/disks/x:1'], [undefined]]);
  });
});

test('whenever virt-controller is killed, there is one PVC, one Pod at a time, and the end is the same', () => {
  for (let killAfter = 0; killAfter < 8; killAfter++) {
    const cluster = new Cluster();
    cluster.put({ ...dataVolume(), metadata: { name: 'root', namespace: 'default', uid: 'dv-1' } });
    for (let steps = 0; steps < 30; steps++) {
      const seen = look({
        dataVolume: cluster.find<DataVolume>('DataVolume') as DataVolume,
        claim: cluster.find<PersistentVolumeClaim>('PersistentVolumeClaim'),
        pod: cluster.find<Pod>('Pod'),
        now: cluster.now,
      });
      const { actions } = decideDataVolume(seen);
      // One that is killed has done a part of what it decided, and has forgotten the rest.
      cluster.apply({ actions: steps === killAfter ? actions.slice(0, 1) : actions });
      assert.ok(cluster.list('Pod').length <= 1 && cluster.list('PersistentVolumeClaim').length <= 1);
      const [filler, made] = [cluster.find<Pod>('Pod'), cluster.find<PersistentVolumeClaim>('PersistentVolumeClaim')];
      if (made && !made.status) cluster.put({ ...made, status: { phase: 'Bound' } } as PersistentVolumeClaim);
      else if (filler && !filler.status) cluster.put({ ...filler, status: pod('Succeeded').status } as Pod);
    }
    const { phase } = cluster.find<DataVolume>('DataVolume')?.status ?? {};
    assert.deepEqual([phase, cluster.list('Pod').length, cluster.list('PersistentVolumeClaim').length], ['Succeeded', 0, 1]);
  }
});

describe('an upload', () => {
  const sent = dataVolume({ upload: {} });
  const running = pod('Running', { running: {} });
  const phaseOf = (seen: Partial<ObservedDataVolume>) =>
    deriveDataVolumeStatus(look({ dataVolume: sent, claim: claim('Bound'), ...seen }), undefined).phase;

  test('is ready when its Pod answers, and over when that has succeeded', () => {
    assert.equal(phaseOf({}), 'UploadScheduled');
    assert.equal(phaseOf({ pod: pod('Pending') }), 'UploadScheduled');
    assert.equal(phaseOf({ pod: running }), 'UploadScheduled');
    assert.equal(phaseOf({ pod: running, progress: { doneBytes: 0 } }), 'UploadReady');
    assert.equal(phaseOf({ pod: pod('Succeeded') }), 'Succeeded');
  });

  test('says on its PVC whether it can be sent', () => {
    assert.equal(claimFor({ dataVolume: sent })?.metadata.annotations?.['cdi.kubevirt.io/storage.upload.target'], '');
    const { actions } = decideDataVolume(look({ dataVolume: sent, claim: claim('Bound'), pod: running, progress: { doneBytes: 0 } }));
    const patches = actions.flatMap((action) =>
      action.do === 'patch' && action.target.kind === 'PersistentVolumeClaim' ? [action.patch] : [],
    );
    const annotations = { 'cdi.kubevirt.io/storage.pod.phase': 'Running', 'cdi.kubevirt.io/storage.pod.ready': 'true' };
    assert.deepEqual(patches, [{ metadata: { annotations } }]);
  });

  test('tells why what was sent was not taken', () => {
    const { conditions } = deriveDataVolumeStatus(
      look({ dataVolume: sent, claim: claim('Bound'), pod: running, progress: { doneBytes: 0, failure: 'it is an archive' } }),
      undefined,
    );
    const { reason, message } = conditionOf(conditions, 'Running') ?? {};
    assert.deepEqual([reason, message], ['Error', 'it is an archive']);
  });

  test('has a Pod with the authority of virt-api, a door and nothing else', () => {
    const made = importerPodFor({ dataVolume: sent, claim: claim('Bound'), importer: { ...importer, authority: 'PEM' } });
    const [container] = made?.spec.containers ?? [];
    assert.deepEqual(
      [
        container?.env?.find(({ name }) => name === 'KUBEVIRT_UPLOAD_AUTHORITY')?.value,
        container?.ports?.map(({ containerPort }) => containerPort),
      ],
      ['PEM', [8444, 8445]],
    );
    assert.deepEqual(
      made?.spec.volumes?.map(({ name }) => name),
      ['target'],
    );
  });
});
