import assert from 'node:assert/strict';
import { test } from 'node:test';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { MetricFamilies } from '../../base/metrics.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { addControllerMetrics } from './add-metrics.ts';
import { statusGroupOf } from './status-groups-table.ts';

const SECONDS = Date.parse('2026-01-01T00:00:00Z') / 1000; // when the builders make everything

function world() {
  const [metrics, vms, vmis, stop] = [new MetricFamilies(), handFedCache(VMS), handFedCache(VMIS), new AbortController()];
  addControllerMetrics({ metrics, vms, vmis, signal: stop.signal });
  const samples = async (name: string) =>
    (await metrics
      .all()
      .find((family) => family.name === name)
      ?.samples()) ?? [];
  return { metrics, vms, vmis, stop, samples };
}

test('a machine is shown with what it is, what it does, and since when', async () => {
  const { vms, samples } = world();
  vms.put(vm('Always', { printableStatus: 'Running' }));
  const named = { namespace: 'default', name: 'db' };
  const [info] = await samples('kubevirt_vm_info');
  assert.deepEqual(info?.labels, {
    ...named,
    os: '<none>',
    workload: '<none>',
    flavor: '<none>',
    machine_type: '',
    instance_type: '<none>',
    preference: '<none>',
    status: 'running',
    status_group: 'running',
  });
  assert.deepEqual(await samples('kubevirt_vm_running_status_last_transition_timestamp_seconds'), [{ labels: named, value: SECONDS }]);
  assert.deepEqual(await samples('kubevirt_vm_error_status_last_transition_timestamp_seconds'), [{ labels: named, value: 0 }]);
  assert.deepEqual(await samples('kubevirt_number_of_vms'), [{ labels: { namespace: 'default' }, value: 1 }]);
  assert.deepEqual(await samples('kubevirt_vm_resource_requests'), [
    { labels: { ...named, resource: 'memory', unit: 'bytes', source: 'requests' }, value: 128 * 2 ** 20 },
  ]);
});

test('an instance is shown with its node, address and system', async () => {
  const { vmis, samples } = world();
  const status = { nodeName: 'n1', guestOSInfo: { name: 'Debian' }, interfaces: [{ name: 'default', ipAddress: '10.244.0.5' }] };
  vmis.put(vmi('Running', status, { annotations: { 'kubevirt.io/cluster-instancetype-name': 'u1.small' } }));
  const [info] = await samples('kubevirt_vmi_info');
  const { node, phase, address, guest_os_name: system, instance_type: type } = info?.labels ?? {};
  assert.deepEqual(
    { node, phase, address, system, type },
    { node: 'n1', phase: 'running', address: '10.244.0.5', system: 'Debian', type: 'u1.small' },
  );
  assert.equal((await samples('kubevirt_vmi_status_addresses'))[0]?.labels?.['address'], '10.244.0.5');
});

test('a change of phase is counted once, with the time since the phase before and since the creation', async () => {
  const { vmis, samples } = world();
  const at = (seconds: number) => new Date((SECONDS + seconds) * 1000).toISOString();
  const scheduled = { phase: 'Scheduled', phaseTransitionTimestamp: at(3) } as const;
  vmis.put(vmi('Scheduled', { phaseTransitionTimestamps: [scheduled] }));
  const running = { phaseTransitionTimestamps: [scheduled, { phase: 'Running', phaseTransitionTimestamp: at(7) } as const] };
  vmis.put(vmi('Running', running, { resourceVersion: '2' }));
  vmis.put(vmi('Running', { ...running, nodeName: 'n1' }, { resourceVersion: '3' }));
  const sumOf = async (name: string) =>
    (await samples(name)).filter(({ suffix }) => suffix !== '_bucket').map(({ suffix, labels, value }) => [suffix, labels, value]);
  assert.deepEqual(await sumOf('kubevirt_vmi_phase_transition_time_seconds'), [
    ['_sum', { phase: 'Running', last_phase: 'Scheduled' }, 4],
    ['_count', { phase: 'Running', last_phase: 'Scheduled' }, 1],
  ]);
  assert.deepEqual(await sumOf('kubevirt_vmi_phase_transition_time_from_creation_seconds'), [
    ['_sum', { phase: 'Running' }, 7],
    ['_count', { phase: 'Running' }, 1],
  ]);
});

test('who leads no longer says nothing of machines', () => {
  const { metrics, stop } = world();
  stop.abort();
  assert.deepEqual(metrics.all(), []);
});

test('a word that nobody knows is an error', () => {
  assert.deepEqual(['ErrImagePull', 'CrashLoopBackOff', 'Stopped', 'Starting'].map(statusGroupOf), [
    'error',
    'error',
    'non_running',
    'starting',
  ]);
});
