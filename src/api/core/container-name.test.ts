import assert from 'node:assert/strict';
import { test } from 'node:test';
import { containerNameOf } from './container-name.ts';
import type { Pod } from './pod.ts';

const pod = (containers: string[], initContainers: string[] = []) =>
  ({
    metadata: { name: 'p' },
    spec: { containers: containers.map((name) => ({ name })), initContainers: initContainers.map((name) => ({ name })) },
  }) as unknown as Pod; // all that is looked at

test('without a name it is the only container, whatever ran before it', () => {
  assert.equal(containerNameOf(pod(['a'], ['init']), undefined), 'a');
});

test('of several one has to be named, and all are choices', () => {
  assert.throws(() => containerNameOf(pod(['a', 'b'], ['init']), undefined), {
    message: 'a container name must be specified for pod p, choose one of: [init a b]',
  });
  assert.equal(containerNameOf(pod(['a', 'b'], ['init']), 'init'), 'init');
});

test('a name that no container has is refused', () => {
  assert.throws(() => containerNameOf(pod(['a']), 'b'), { reason: 'BadRequest', message: 'container b is not valid for pod p' });
});
