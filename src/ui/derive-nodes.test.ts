import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Node } from '../api/core/node.ts';
import { deriveFindings } from './derive-nodes.ts';

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
