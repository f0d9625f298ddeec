import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../api/core/node.ts';
import { vmi } from '../testing/builders.ts';
import { deriveCapacity, deriveFindings } from './derive-nodes.ts';

const node = (conditions: NonNullable<Node['status']>['conditions'], labels: Record<string, string> = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels },
  status: { ...(conditions && { conditions }) },
});

test('a node that is well has no findings', () => {
  const well = node(
    [
      { type: 'Ready', status: 'True' },
      { type: 'DiskPressure', status: 'False' },
    ],
    { 'kubevirt.io/schedulable': 'true' },
  );
  assert.deepEqual(deriveFindings(well), []);
});

test('a node says what is wrong with it, as text, and that no machine comes there', () => {
  const ill = node([
    { type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'no \u001b[2Jnetwork' },
    { type: 'DiskPressure', status: 'True', reason: 'Full' },
  ]);
  assert.deepEqual(deriveFindings({ ...ill, spec: { unschedulable: true } }), [
    'Not ready: no \\u001b[2Jnetwork',
    'DiskPressure: Full',
    'Cordoned: nothing new is placed here.',
    'No machine is placed here: no virt-handler of it answers.',
  ]);
});

test('a node says how much of it machines were given, which are here and have not ended', () => {
  const machine = (nodeName: string, phase: 'Running' | 'Succeeded') => {
    const made = vmi(phase, { nodeName });
    return { ...made, spec: { ...made.spec, domain: { ...made.spec.domain, cpu: { cores: 2 } } } };
  };
  const here = { ...node([]), status: { capacity: { cpu: '4', memory: '8Gi' }, allocatable: { memory: '6Gi' } } };
  assert.deepEqual(
    deriveCapacity(here, [machine('n1', 'Running'), machine('n1', 'Running'), machine('n1', 'Succeeded'), machine('n2', 'Running')]),
    {
      machines: 2,
      memoryBytes: { used: 2 * 128 * 2 ** 20, all: 6 * 2 ** 30 },
      processors: { used: 4, all: 4 },
    },
  );
});
