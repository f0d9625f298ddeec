import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideUploadClaim, isUploadClaim } from './decide.ts';

const importer = { image: 'importer', way: 'image-volume', authority: 'PEM' } as const;

function claim(annotations: Record<string, string> = {}, more: Partial<PersistentVolumeClaim['metadata']> = {}): PersistentVolumeClaim {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 'disk',
      namespace: 'default',
      uid: 'c-1',
      annotations: { [CDI_ANNOTATIONS.uploadTarget]: '', ...annotations },
      ...more,
    },
    spec: { resources: { requests: { storage: '1Gi' } } },
  };
}

function pod(phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed'): Pod {
  const metadata = { name: importerPodNameOf(claim()), namespace: 'default', uid: 'p-1' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [] }, status: { phase } };
}

const NAME = importerPodNameOf(claim());
const MARK = 'patch PersistentVolumeClaim default/disk';
const READY = { [CDI_ANNOTATIONS.podPhase]: 'Running', [CDI_ANNOTATIONS.podReady]: 'true' };
const FILLED = { [CDI_ANNOTATIONS.podPhase]: 'Succeeded', [CDI_ANNOTATIONS.podReady]: 'false' };

const RULES: readonly [fact: string, seen: Partial<Parameters<typeof decideUploadClaim>[0]>, told: RegExp[]][] = [
  ['one that goes gets no Pod', { claim: claim({}, { deletionTimestamp: 'now' }) }, []],
  ['one that goes is let go by its Pod', { claim: claim({}, { deletionTimestamp: 'now' }), pod: pod('Running') }, [/^delete Pod/]],
  ['it gets a Pod', {}, [new RegExp(`^create Pod default/${NAME}`)]],
  ['it says that its Pod does not take a disk yet', { pod: pod('Running') }, [new RegExp(MARK)]],
  ['it says that its Pod takes one', { pod: pod('Running'), progress: { doneBytes: 0 } }, [new RegExp(MARK)]],
  ['it says so once', { claim: claim(READY), pod: pod('Running'), progress: { doneBytes: 5 } }, []],
  [
    'a block device takes no uploads, and says so',
    { claim: { ...claim(), spec: { volumeMode: 'Block' } } },
    [/^record event ErrClaimNotValid: PVC disk is a block device/],
  ],
  ['a Pod that failed is made again', { pod: pod('Failed') }, [/^delete Pod/]],
  ['it is filled when its Pod has succeeded', { claim: claim(READY), pod: pod('Succeeded') }, [new RegExp(MARK), /^delete Pod/]],
  ['what is filled gets no Pod', { claim: claim(FILLED) }, []],
];
for (const [fact, seen, told] of RULES)
  test(fact, () => {
    const { actions } = decideUploadClaim({ claim: claim(), importer, ...seen });
    const lines = explain({ actions });
    assert.equal(lines.length, told.length, lines.join('\n'));
    for (const [at, pattern] of told.entries()) assert.match(lines[at] ?? '', pattern);
  });

test('a PVC of a DataVolume is looked after there, and others wait for nothing', () => {
  const owner = { apiVersion: 'cdi.kubevirt.io/v1beta1', kind: 'DataVolume', name: 'disk', uid: 'd-1', controller: true };
  assert.equal(isUploadClaim(claim()), true);
  assert.equal(isUploadClaim(claim({}, { ownerReferences: [owner] })), false);
  assert.equal(isUploadClaim(claim({}, { annotations: {} })), false);
});
