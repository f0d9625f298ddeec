import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { marked } from '../objects/marks.ts';
import { decideCommonInstancetypes, type ObservedCommonInstancetypes } from './decide.ts';

function size(name: string, guest = 1): KubeObject {
  return {
    apiVersion: 'instancetype.kubevirt.io/v1beta1',
    kind: 'VirtualMachineClusterInstancetype',
    metadata: { name, labels: { 'app.kubernetes.io/name': 'common-instancetypes' } },
    spec: { cpu: { guest }, memory: { guest: '1Gi' } },
  } as KubeObject;
}
function kubeVirt(spec: KubeVirt['spec'] = {}, deletionTimestamp?: string): KubeVirt {
  const metadata = { name: 'kubevirt', namespace: 'kubevirt', ...(deletionTimestamp && { deletionTimestamp }) };
  return { apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata, spec };
}
const OFF = kubeVirt({ configuration: { commonInstancetypesDeployment: { enabled: false } } });
const ours = marked(size('a'));
const leaving = { ...ours, metadata: { ...ours.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };

const ROWS: [name: string, observed: Partial<ObservedCommonInstancetypes>, expected: string[]][] = [
  ['what is missing is applied', {}, ['apply VirtualMachineClusterInstancetype /a: it is missing']],
  ['what is as wanted is left alone', { stored: [ours] }, []],
  [
    'what says something else is put right',
    { stored: [marked(size('a', 8))] },
    ['apply VirtualMachineClusterInstancetype /a: it says something else than is wanted'],
  ],
  ['one of that name that somebody else made stays theirs', { stored: [size('a', 8)] }, []],
  ['also when they are switched off', { kubeVirt: OFF, stored: [size('a', 8), size('b')] }, []],
  [
    'an older one of ours goes',
    { stored: [ours, marked(size('b'))] },
    ['delete VirtualMachineClusterInstancetype /b: it is no longer wanted'],
  ],
  [
    'switched off, ours go',
    { kubeVirt: OFF, stored: [ours] },
    ['delete VirtualMachineClusterInstancetype /a: common instance types are switched off'],
  ],
  ['switched off, nothing is made', { kubeVirt: OFF }, []],
  ['one that goes is waited for', { stored: [leaving] }, []],
  ['an installation that goes takes its definitions with it', { kubeVirt: kubeVirt({}, '2026-01-01T00:00:00Z'), stored: [ours] }, []],
  ['a second KubeVirt object says nothing', { kubeVirt: OFF, isTheOne: false, stored: [ours] }, []],
];
for (const [name, observed, expected] of ROWS)
  test(name, () => {
    const base = { kubeVirt: kubeVirt(), isTheOne: true, wanted: [ours], stored: [] };
    assert.deepEqual(explain(decideCommonInstancetypes({ ...base, ...observed })), expected);
  });
