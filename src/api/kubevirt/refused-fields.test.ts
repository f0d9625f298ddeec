import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../base/json.ts';
import { honouredVmiSpec, refusedFields } from './refused-fields.ts';

const fieldsOf = (kind: string, spec: JsonObject) => refusedFields(kind, { metadata: { name: 'x' }, spec }).map(({ field }) => field);

test('a published field that is not honoured is refused by its path, in lists too', () => {
  const spec = {
    utilityVolumes: [{ name: 'backup' }],
    domain: {
      launchSecurity: { sev: {} },
      devices: { disks: [{ name: 'a' }, { name: 'b', changedBlockTracking: true }], interfaces: [{ name: 'c', sriov: {} }] },
    },
  };
  assert.deepEqual(fieldsOf('VirtualMachineInstance', spec).sort(), [
    'spec.domain.devices.disks[1].changedBlockTracking',
    'spec.domain.devices.interfaces[0].sriov',
    'spec.domain.launchSecurity',
    'spec.utilityVolumes',
  ]);
});

test('the cause says why', () => {
  const [cause] = refusedFields('VirtualMachine', {
    spec: { template: { spec: { domain: { devices: { interfaces: [{ slirp: {} }] } } } } },
  });
  assert.deepEqual(cause, {
    reason: 'FieldValueForbidden',
    field: 'spec.template.spec.domain.devices.interfaces[0].slirp',
    message: 'Forbidden: this field of KubeVirt is not supported here: gone from KubeVirt, too; use masquerade',
  });
});

test('every kind with a template answers for what is inside it', () => {
  const template = { spec: { domain: { launchSecurity: { sev: {} }, devices: {} } } };
  for (const kind of ['VirtualMachine', 'VirtualMachineInstanceReplicaSet', 'OfflineVirtualMachine', 'VirtualMachineInstanceConfig'])
    assert.deepEqual(fieldsOf(kind, { template }), ['spec.template.spec.domain.launchSecurity'], kind);
});

test('a value that says nothing is no wish', () => {
  const nothing = { architecture: '', resourceClaims: [], domain: { chassis: null, devices: { useVirtioTransitional: false } } };
  assert.deepEqual(fieldsOf('VirtualMachineInstance', nothing), []);
});

test('an empty struct says nothing where KubeVirt has it always, and something where it chooses', () => {
  assert.deepEqual(fieldsOf('KubeVirt', { customizeComponents: {}, certificateRotateStrategy: {} }), []);
  assert.deepEqual(fieldsOf('VirtualMachineInstance', { domain: { devices: { downwardMetrics: {} } } }), [
    'spec.domain.devices.downwardMetrics',
  ]);
});

test('hostile shapes are not walked into', () => {
  for (const spec of [
    null,
    [],
    'x',
    { domain: [] },
    { domain: { devices: { disks: [null, 1, []] } } },
    { constructor: 1, __proto__: { domain: 1 } },
  ])
    assert.deepEqual(refusedFields('VirtualMachineInstance', { spec }), []);
  assert.deepEqual(refusedFields('Pod', { spec: { domain: { chassis: {} } } }), []);
});

test('what is honoured of a spec is all but the refused fields and nulls', () => {
  const disks = [{ name: 'a', changedBlockTracking: 7, serial: null }];
  assert.deepEqual(honouredVmiSpec({ hostname: 'x', utilityVolumes: 'y', domain: { launchSecurity: [], devices: { disks } } }), {
    hostname: 'x',
    domain: { devices: { disks: [{ name: 'a' }] } },
  });
});
