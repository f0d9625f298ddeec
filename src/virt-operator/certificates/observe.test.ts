import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import { observeCertificates } from './observe.ts';

const HOUR = 3_600_000;
const livesOf = (selfSigned: NonNullable<NonNullable<KubeVirt['spec']['certificateRotateStrategy']>['selfSigned']>) => {
  const kubeVirt: KubeVirt = {
    apiVersion: 'kubevirt.io/v1',
    kind: 'KubeVirt',
    metadata: { name: 'kubevirt' },
    spec: { certificateRotateStrategy: { selfSigned } },
  };
  const { authority, leaf } = observeCertificates({ kubeVirt, secret: () => undefined, bundle: undefined, spreadMs: 0, now: 0 }).lives;
  return [authority.durationMs, authority.renewBeforeMs, leaf.durationMs, leaf.renewBeforeMs].map((ms) => ms / HOUR);
};

test('how long certificates live, in either spelling; the newer one goes first', () => {
  assert.deepEqual(livesOf({}), [168, 33, 24, 5 * 0.96]);
  assert.deepEqual(livesOf({ ca: { duration: '100h', renewBefore: '10h' }, server: { duration: '10h' } }), [100, 10, 10, 2]);
  assert.deepEqual(livesOf({ caRotateInterval: '100h', caOverlapInterval: '10h', certRotateInterval: '10h' }), [100, 10, 10, 2]);
  assert.deepEqual(livesOf({ caRotateInterval: '1h', ca: { duration: '100h' } })[0], 100);
});
