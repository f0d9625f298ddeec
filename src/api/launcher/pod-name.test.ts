import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { controllerReferenceTo } from '../meta.ts';
import { currentLauncherNameOf, isCurrentLauncherOf, isLauncherOf, isTargetOf, launcherPodNameOf } from './pod-name.ts';

const instance = vmi('Running');
const genuine = launcherPod({ running: { startedAt: '' } });

test('the launcher of an instance is the Pod whose name follows from its uid', () => {
  assert.equal(isLauncherOf(genuine, instance), true);
});

for (const [title, metadata] of [
  ['another name', { name: 'virt-launcher-db-zzzzz' }],
  ['no owner', { ownerReferences: [] }],
  ['another namespace', { namespace: 'other' }],
  ['an owner of another kind that has its uid', { ownerReferences: [{ ...controllerReferenceTo(instance), kind: 'ConfigMap' }] }],
  ['an owner of another group that has its uid', { ownerReferences: [{ ...controllerReferenceTo(instance), apiVersion: 'v1' }] }],
] as const) {
  test(`a Pod with ${title} is not the launcher, whatever else it says`, () => {
    assert.equal(isLauncherOf({ ...genuine, metadata: { ...genuine.metadata, ...metadata } }, instance), false);
  });
}

test('the launcher of an instance that was made anew under the same name is another Pod', () => {
  assert.equal(isLauncherOf(genuine, vmi('Running', {}, { uid: 'vmi-2' })), false);
});

describe('an instance that is moved', () => {
  const target = { ...genuine, metadata: { ...genuine.metadata, name: launcherPodNameOf(instance, 'm1') } };
  const moved = (state: object) =>
    vmi('Running', { migrationState: { sourcePod: genuine.metadata.name, targetPod: target.metadata.name, ...state } });

  test('a migration has one Pod that it goes to, and it is that of no other', () => {
    assert.deepEqual(
      [isTargetOf(target, instance, 'm1'), isTargetOf(target, instance, 'm2'), isTargetOf(genuine, instance, '')],
      [true, false, false],
    );
  });

  test('a Pod to go to is a launcher from the moment that the instance names it', () => {
    assert.deepEqual([isLauncherOf(target, instance), isLauncherOf(target, moved({}))], [false, true]);
  });

  test('the guest is in the first Pod until it was handed over, and in the other from then on', () => {
    const isIn = (state: object) => [genuine, target].map((pod) => isCurrentLauncherOf(pod, moved(state)));
    assert.deepEqual(
      [isIn({}), isIn({ failed: true }), isIn({ completed: true })],
      [
        [true, false],
        [true, false],
        [false, true],
      ],
    );
    assert.equal(currentLauncherNameOf(instance), genuine.metadata.name);
  });
});
