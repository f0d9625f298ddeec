import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, Taint } from '../../api/core/node.ts';
import type { Condition } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { decideNode } from './decide-node.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const MINE: Taint = { key: 'example.com/mine', effect: 'NoExecute' };

function node(ready?: Condition['status'], ...taints: Taint[]): Node {
  const conditions: Condition[] = ready
    ? [
        { type: 'Ready', status: ready },
        { type: 'Other', status: 'True' },
      ]
    : [];
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' }, spec: { taints }, status: { conditions } };
}

const both = (name: string): Taint[] =>
  (['NoSchedule', 'NoExecute'] as const).map((effect) => ({ key: `node.kubernetes.io/${name}`, effect }));

const CASES: readonly [title: string, node: Node, silentSeconds: number, expected: string[]][] = [
  ['one that is heard of is looked at again in time', node('True'), 10, ['look again in 40s']],
  ['one that is silent is Unknown', node('True'), 50, ['patch Node status /n1: nothing was heard of its kubelet for 50s']],
  ['one that never said anything is Unknown, too', node(), 50, ['patch Node status /n1: nothing was heard of its kubelet for 50s']],
  ['one that has not said anything yet is left alone', node(), 0, ['look again in 50s']],
  ['an Unknown one is tainted', node('Unknown', MINE), 60, ['patch Node /n1: Ready is Unknown']],
  ['a tainted one is left alone', node('Unknown', MINE, ...both('unreachable')), 60, []],
  ['one that says it is not ready is tainted', node('False'), 0, ['patch Node /n1: Ready is False', 'look again in 50s']],
  [
    'one that is ready again loses its taints',
    node('True', ...both('unreachable')),
    0,
    ['patch Node /n1: it is ready', 'look again in 50s'],
  ],
  ['taints of others are none of its business', node('True', MINE), 0, ['look again in 50s']],
];

describe('a node', () => {
  for (const [title, each, seconds, expected] of CASES) {
    test(title, () => assert.deepEqual(explain(decideNode({ node: each, silentMs: seconds * 1000, now })), expected));
  }

  test('goes from not ready to unreachable with the taints of others untouched', () => {
    const { actions } = decideNode({ node: node('Unknown', MINE, ...both('not-ready')), silentMs: 60_000, now });
    const [action] = actions;
    assert.deepEqual(action?.do === 'patch' && action.patch, {
      spec: {
        taints: [
          MINE,
          { key: 'node.kubernetes.io/unreachable', effect: 'NoSchedule' },
          { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute', timeAdded: '2026-01-01T00:00:00Z' },
        ],
      },
    });
  });

  test('that is given up keeps what others say of it', () => {
    const [action] = decideNode({ node: node('True'), silentMs: 60_000, now }).actions;
    const { status } = (action?.do === 'patch' ? action.patch : {}) as { status: { conditions: Condition[] } };
    assert.deepEqual(
      status.conditions.map(({ type, status: each }) => `${type}=${each}`),
      ['Other=True', 'Ready=Unknown', 'MemoryPressure=Unknown', 'DiskPressure=Unknown', 'PIDPressure=Unknown'],
    );
  });
});
