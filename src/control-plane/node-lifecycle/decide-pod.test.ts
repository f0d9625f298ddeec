import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node, Taint } from '../../api/core/node.ts';
import type { Pod, Toleration } from '../../api/core/pod.ts';
import { explain } from '../../reconcile/decision.ts';
import { decidePodOfNode } from './decide-pod.ts';

const UNREACHABLE: Taint = { key: 'node.kubernetes.io/unreachable', effect: 'NoExecute' };
const MINE: Taint = { key: 'mine', value: 'yes', effect: 'NoExecute' };
const OUT: Taint = { key: 'node.kubernetes.io/out-of-service', effect: 'NoExecute' };
const EARLIER = '2026-01-01T00:00:00Z';
const LATER = '2026-01-01T00:10:00Z';
const now = Date.parse('2026-01-01T01:00:00Z');

function pod(tolerations: Toleration[], metadata: object = {}, status: Pod['status'] = { phase: 'Running' }): Pod {
  const spec = { nodeName: 'n1', containers: [{ name: 'c' }], tolerations };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', namespace: 'default', ...metadata }, spec, status };
}

const tolerating = (key: string, tolerationSeconds?: number): Toleration => ({
  key,
  operator: 'Exists',
  effect: 'NoExecute',
  ...(tolerationSeconds !== undefined && { tolerationSeconds }),
});
const leaves = (key: string) => [`delete Pod default/p: node n1 has the taint ${key}, which it tolerates no longer`];

const CASES: readonly [title: string, pod: Pod, taints: Taint[], seenSeconds: number, expected: string[]][] = [
  ['that tolerates nothing leaves', pod([]), [MINE], 0, leaves('mine')],
  ['stays for as long as it tolerates the taint', pod([tolerating(UNREACHABLE.key, 300)]), [UNREACHABLE], 299, ['look again in 1s']],
  ['leaves when that is over', pod([tolerating(UNREACHABLE.key, 300)]), [UNREACHABLE], 300, leaves(UNREACHABLE.key)],
  ['that tolerates it for ever stays', pod([tolerating(UNREACHABLE.key)]), [UNREACHABLE], 1e6, []],
  ['that tolerates everything stays', pod([{ operator: 'Exists' }]), [UNREACHABLE, MINE], 1e6, []],
  [
    'leaves by the shortest',
    pod([tolerating(UNREACHABLE.key, 300), tolerating('mine', 20)]),
    [UNREACHABLE, MINE],
    10,
    ['look again in 10s'],
  ],
  ['leaves at once by a time below zero', pod([tolerating('mine', -5)]), [MINE], 0, leaves('mine')],
  ['that tolerates another value leaves', pod([{ key: 'mine', value: 'no', effect: 'NoExecute' }]), [MINE], 0, leaves('mine')],
  ['that has ended stays', pod([], {}, { phase: 'Failed' }), [MINE], 0, []],
  ['that is going already is not deleted again', pod([], { deletionTimestamp: '2026-01-01T00:00:00Z' }), [MINE], 0, []],
  ['that mirrors our own process stays', pod([], { annotations: { 'kubernetes.io/config.mirror': 'x' } }), [MINE], 0, []],
];

function node(ready: 'True' | 'Unknown' = 'True'): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n1' },
    status: { conditions: [{ type: 'Ready', status: ready, lastTransitionTime: LATER }] },
  };
}

describe('a Pod on a node with taints', () => {
  for (const [title, each, taints, seconds, expected] of CASES) {
    test(title, () => {
      const seen = taints.map((taint) => ({ taint, seenForMs: seconds * 1000 }));
      assert.deepEqual(explain(decidePodOfNode({ pod: each, node: node(), goneForMs: 0, taints: seen, now })), expected);
    });
  }
});

const readySince = (lastTransitionTime: string) =>
  pod([tolerating(UNREACHABLE.key)], {}, { phase: 'Running', conditions: [{ type: 'Ready', status: 'True', lastTransitionTime }] });
const going = pod([], { deletionTimestamp: EARLIER });
const lost = { node: node('Unknown'), goneForMs: 0, taints: [{ taint: UNREACHABLE, seenForMs: 0 }], now };
const shutDown = { ...lost, taints: [{ taint: OUT, seenForMs: 0 }] };

const LOST: readonly [title: string, observed: Parameters<typeof decidePodOfNode>[0], expected: string[]][] = [
  [
    'is not ready when its node is lost',
    { ...lost, pod: readySince(EARLIER) },
    ['patch Pod status default/p: node n1 is not ready', 'look again in 0s'],
  ],
  ['is believed when it is ready since then', { ...lost, pod: readySince(LATER) }, []],
  ['that is going waits for its kubelet', { ...lost, pod: going }, []],
  [
    'that is going is removed where the node is out of service',
    { ...shutDown, pod: going },
    ['delete Pod default/p: node n1 is out of service'],
  ],
  ['is not removed while the node is ready', { ...shutDown, node: node(), pod: going }, []],
  ['stays for a while when its node is gone', { pod: pod([]), goneForMs: 30_000, taints: [], now }, ['look again in 10s']],
  ['is removed when its node stays away', { pod: pod([]), goneForMs: 40_000, taints: [], now }, ['delete Pod default/p: node n1 is gone']],
];

describe('a Pod on a node that is lost', () => {
  for (const [title, observed, expected] of LOST) test(title, () => assert.deepEqual(explain(decidePodOfNode(observed)), expected));
});
