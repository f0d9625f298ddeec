import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { vm } from '../testing/builders.ts';
import { deriveVm } from './derive.ts';
import { vmctlPod } from './pod.testing.ts';

function prototype(): VirtualMachine {
  const { spec, ...rest } = vm('Halted', { printableStatus: 'Stopped' }, { labels: { app: 'web', tier: 'front' } });
  const { domain, ...others } = spec.template.spec;
  const interfaces = [{ name: 'default', masquerade: {}, macAddress: '02:00:00:00:00:01' }];
  const template = {
    metadata: { labels: { tier: 'back', size: 'small' } },
    spec: {
      ...others,
      nodeSelector: { disk: 'ssd' },
      domain: {
        ...domain,
        firmware: { uuid: '5d307ca9-b3ef-428c-8861-06e72d69f223', serial: 's1', bootloader: { bios: {} } },
        devices: { ...domain.devices, interfaces },
      },
    },
  };
  const annotations = { note: 'kept', 'kubectl.kubernetes.io/last-applied-configuration': '{}' };
  return { ...rest, metadata: { ...rest.metadata, annotations }, spec: { running: false, template } } as VirtualMachine;
}

test('the machine of a Pod is the prototype with another name, running, on the Pod’s node, and the Pod’s', () => {
  const derived = deriveVm({ prototype: prototype(), namespace: 'default', name: 'db-web-0', pod: vmctlPod() });
  const { domain, ...others } = prototype().spec.template.spec;
  assert.deepEqual(derived, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    metadata: {
      name: 'db-web-0',
      namespace: 'default',
      labels: { app: 'web', tier: 'front', 'kubevirt.io/vmctl-pod-uid': 'pod-1' },
      annotations: { note: 'kept', 'kubevirt.io/vmctl-prototype': 'default/db', 'kubevirt.io/vmctl-pod': 'default/web-0' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'web-0', uid: 'pod-1', controller: true }],
    },
    spec: {
      runStrategy: 'Always',
      template: {
        metadata: { labels: { tier: 'front', size: 'small', app: 'web' } },
        spec: {
          ...others,
          nodeSelector: { disk: 'ssd', 'kubernetes.io/hostname': 'n1' },
          domain: {
            ...domain,
            firmware: { bootloader: { bios: {} } },
            devices: { ...domain.devices, interfaces: [{ name: 'default', masquerade: {} }] },
          },
        },
      },
    },
  });
});

test('in another namespace the machine has no owner, only the label', () => {
  const { metadata } = deriveVm({ prototype: prototype(), namespace: 'guests', name: 'db-web-0', pod: vmctlPod() });
  assert.equal(metadata.ownerReferences, undefined);
  assert.equal(metadata.labels?.['kubevirt.io/vmctl-pod-uid'], 'pod-1');
  assert.equal(metadata.annotations?.['kubevirt.io/vmctl-pod'], 'default/web-0');
});

test('outside a Pod the machine has neither pin nor owner nor label', () => {
  const { metadata, spec } = deriveVm({ prototype: prototype(), namespace: 'default', name: 'db-here' });
  assert.deepEqual(metadata, {
    name: 'db-here',
    namespace: 'default',
    labels: { app: 'web', tier: 'front' },
    annotations: { note: 'kept', 'kubevirt.io/vmctl-prototype': 'default/db' },
  });
  assert.deepEqual(spec.template.spec.nodeSelector, { disk: 'ssd' });
});

test('a machine derived from a derived one belongs to its own Pod alone', () => {
  const first = deriveVm({ prototype: prototype(), namespace: 'default', name: 'a', pod: vmctlPod({ uid: 'other' }) });
  const { metadata, spec } = deriveVm({ prototype: first, namespace: 'default', name: 'b' });
  assert.deepEqual(metadata.labels, { app: 'web', tier: 'front' });
  assert.equal(spec.template.metadata?.labels?.['kubevirt.io/vmctl-pod-uid'], undefined);
  assert.deepEqual(metadata.annotations, { note: 'kept', 'kubevirt.io/vmctl-prototype': 'default/a' });
});
