import assert from 'node:assert/strict';
import { test } from 'node:test';
import { launcherPod, vmi } from '../../testing/builders.ts';
import { isLauncherOf } from './pod-name.ts';

const instance = vmi('Running');
const genuine = launcherPod({ running: { startedAt: '' } });

test('the launcher of an instance is the Pod whose name follows from its uid', () => {
  assert.equal(isLauncherOf(genuine, instance), true);
});

for (const [title, metadata] of [
  ['another name', { name: 'virt-launcher-db-zzzzz' }],
  ['no owner', { ownerReferences: [] }],
  ['another namespace', { namespace: 'other' }],
] as const) {
  test(`a Pod with ${title} is not the launcher, whatever else it says`, () => {
    assert.equal(isLauncherOf({ ...genuine, metadata: { ...genuine.metadata, ...metadata } }, instance), false);
  });
}

test('the launcher of an instance that was made anew under the same name is another Pod', () => {
  assert.equal(isLauncherOf(genuine, vmi('Running', {}, { uid: 'vmi-2' })), false);
});
