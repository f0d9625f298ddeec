import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Node } from '../../../api/core/node.ts';
import { ANNOTATION_NODE_POWER, ANNOTATION_NODE_POWER_WANTED } from '../../../api/kubevirt/names.ts';
import type { NodePower } from '../../../api/kubevirt/node-power.ts';
import { explain } from '../../../reconcile/decision.ts';
import { decideNodePower } from './decide.ts';

function node(wanted?: string, said?: string): Node {
  const annotations = { ...(wanted && { [ANNOTATION_NODE_POWER_WANTED]: wanted }), ...(said && { [ANNOTATION_NODE_POWER]: said }) };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', annotations } };
}

const CASES: readonly [title: string, node: Node, power: NodePower, expected: string[]][] = [
  ['one that runs says so', node(), 'running', ['patch Node /n1: it is running']],
  ['one that says so is left alone', node(undefined, 'running'), 'running', []],
  ['one that is to stop is stopped', node('stopped', 'running'), 'running', ['stop node: it is to be stopped', 'look again in 0s']],
  ['and says so then', node('stopped', 'running'), 'stopped', ['patch Node /n1: it is stopped']],
  ['a stopped one is killed', node('killed', 'stopped'), 'stopped', ['kill node: it is to be killed', 'look again in 0s']],
  ['a killed one need not be stopped', node('stopped', 'killed'), 'killed', []],
  ['nobody wants it to stay away: it starts', node(undefined, 'killed'), 'killed', ['start node: it is to be running', 'look again in 0s']],
  ['a word that nobody knows asks for nothing', node('burning', 'running'), 'running', []],
];

describe('a node of this process', () => {
  for (const [title, each, power, expected] of CASES)
    test(title, () => assert.deepEqual(explain(decideNodePower({ node: each, power })), expected));
});
