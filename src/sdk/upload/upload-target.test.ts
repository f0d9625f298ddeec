import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import { dataVolumeFor } from './upload-objects.ts';
import { targetState } from './upload-target.ts';

const dataVolume = dataVolumeFor({ namespace: 'default', name: 'disk', size: '1Gi', isBoundAtOnce: true });
const claim = (annotations: Record<string, string>): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { namespace: 'default', name: 'disk', annotations },
  spec: {},
});
const [target, phase] = ['cdi.kubevirt.io/storage.upload.target', 'cdi.kubevirt.io/storage.pod.phase'];

test('a disk is sent to a PVC that waits for one, and to no other', () => {
  const elsewhere = { ...dataVolume, spec: { source: { blank: {} } } };
  assert.deepEqual(
    [
      targetState({ claim: undefined, dataVolume }),
      targetState({ claim: undefined, dataVolume: undefined }),
      targetState({ claim: claim({ [target]: '' }), dataVolume: undefined }),
      targetState({ claim: claim({ [target]: '', [phase]: 'Running' }), dataVolume }),
      targetState({ claim: claim({ [target]: '', [phase]: 'Succeeded' }), dataVolume }),
      targetState({ claim: claim({}), dataVolume: undefined }),
      targetState({ claim: undefined, dataVolume: elsewhere }),
    ],
    ['coming', 'coming', 'takes', 'takes', 'filled', 'unmarked', 'other source'],
  );
});
