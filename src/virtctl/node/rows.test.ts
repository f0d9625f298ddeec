import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../../api/core/node.ts';
import type { Pod } from '../../api/core/pod.ts';
import { ANNOTATION_NODE_POWER, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import { vmi } from '../../testing/builders.ts';
import { nodeRows } from './rows.ts';

const now = Date.parse('2026-01-01T01:00:00Z');

function node(
  name: string,
  more: { ready?: 'True' | 'False' | 'Unknown'; power?: string; isClosed?: boolean; takesGuests?: boolean } = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { [LABEL_SCHEDULABLE]: String(more.takesGuests ?? false) },
      annotations: more.power ? { [ANNOTATION_NODE_POWER]: more.power } : {},
    },
    spec: { ...(more.isClosed && { unschedulable: true }) },
    status: { conditions: more.ready ? [{ type: 'Ready', status: more.ready }] : [] },
  };
}

function pod(nodeName: string, phase: 'Running' | 'Succeeded'): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec: { nodeName, containers: [] }, status: { phase } };
}

test('a line for each node, by name, with what runs there', () => {
  const nodes = [
    node('c'),
    node('b', { ready: 'Unknown', power: 'killed', isClosed: true }),
    node('a', { ready: 'True', power: 'running', takesGuests: true }),
  ];
  const pods = [pod('a', 'Running'), pod('a', 'Running'), pod('a', 'Succeeded'), pod('b', 'Running')];
  const vmis = [vmi('Running', { nodeName: 'a' }), vmi('Scheduling')];
  assert.deepEqual(nodeRows({ nodes, pods, vmis, now }), [
    ['NAME', 'STATUS', 'TAKES GUESTS', 'GUESTS', 'PODS', 'AGE'],
    ['a', 'Ready', 'yes', '1', '2', '60m'],
    ['b', 'NotReady,SchedulingDisabled (killed)', 'no', '0', '1', '60m'],
    ['c', 'Unknown', 'no', '0', '0', '60m'],
  ]);
});
