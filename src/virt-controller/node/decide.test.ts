import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../api/core/node.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideNode } from './decide.ts';

const beat = '2026-01-01T00:00:00Z';
const node = (schedulable: string | undefined, heartbeat?: string): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: 'n1',
    ...(schedulable && { labels: { 'kubevirt.io/schedulable': schedulable } }),
    ...(heartbeat && { annotations: { 'kubevirt.io/heartbeat': heartbeat } }),
  },
});

const cases: [string, Node, number, string[]][] = [
  ['a node that is heard of is looked at again in time', node('true', beat), 60_000, ['look again in 241s']],
  ['at five minutes it is still trusted', node('true', beat), 300_000, ['look again in 1s']],
  [
    'a silent node takes no more guests',
    node('true', beat),
    300_001,
    ['patch Node /n1: virt-handler was last heard of at 2026-01-01T00:00:00Z'],
  ],
  ['a silent node that takes no more guests is not patched again', node('false', beat), 900_000, []],
  ['a node without virt-handler is not ours', node(undefined), 900_000, []],
];

describe('decideNode', () => {
  for (const [name, seen, afterMs, expected] of cases) {
    test(name, () => assert.deepEqual(explain(decideNode({ node: seen, now: Date.parse(beat) + afterMs })), expected));
  }
});
