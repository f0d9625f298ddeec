import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../api/core/node.ts';
import { ANNOTATION_HEARTBEAT } from '../api/kubevirt/names.ts';
import { heartbeatAtOf } from './node-heartbeat.ts';

const BEAT = '2026-01-01T00:00:00.000Z';

function nodeThatIsReady(status: string): { get(name: string): Node | undefined } {
  const conditions = [{ type: 'Ready', status }];
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'a', annotations: { [ANNOTATION_HEARTBEAT]: BEAT } },
    status: { conditions },
  };
  return { get: (name) => (name === 'a' ? (node as Node) : undefined) };
}

test('a node was last heard of when its virt-handler said so', () => {
  assert.equal(heartbeatAtOf(nodeThatIsReady('True'), 'a'), Date.parse(BEAT));
  assert.equal(heartbeatAtOf(nodeThatIsReady('False'), 'a'), Date.parse(BEAT), 'it still speaks');
});

test('a node that Kubernetes lost, or that is gone, has not been heard of', () => {
  assert.equal(heartbeatAtOf(nodeThatIsReady('Unknown'), 'a'), 0);
  assert.equal(heartbeatAtOf(nodeThatIsReady('True'), 'b'), 0);
});

test('an instance without a node waits for nobody', () => {
  assert.equal(heartbeatAtOf(nodeThatIsReady('True'), undefined), undefined);
});
