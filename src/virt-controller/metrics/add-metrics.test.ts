import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PODS } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { MIGRATIONS, type MigrationPhase, type VirtualMachineInstanceMigration } from '../../api/kubevirt/kinds/migration.ts';
import { VMS } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type VirtualMachineSnapshot, VM_SNAPSHOTS } from '../../api/kubevirt/kinds/vm-snapshot.ts';
import type { VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import { currentLauncherNameOf } from '../../api/launcher/pod-name.ts';
import { MetricFamilies } from '../../base/metrics.ts';
import type { Client } from '../../client/client.ts';
import { byController } from '../../reconcile/owner.ts';
import { launcherPod, vm, vmi } from '../../testing/builders.ts';
import { FakeClock } from '../../testing/fake-clock.ts';
import { fixedConfiguration } from '../../testing/fixed-configuration.ts';
import { handFedCache } from '../../testing/hand-fed-cache.ts';
import { launcherOverheadBytes } from '../vmi/launcher-resources.ts';
import { addControllerMetrics } from './add-metrics.ts';
import { statusGroupOf } from './status-groups-table.ts';

const SECONDS = Date.parse('2026-01-01T00:00:00Z') / 1000; // when the builders make everything

function world(configuration = fixedConfiguration()) {
  const [metrics, vms, vmis, stop] = [new MetricFamilies(), handFedCache(VMS), handFedCache(VMIS), new AbortController()];
  const [migrations, pods] = [handFedCache(MIGRATIONS), handFedCache(PODS, byController)];
  const [claims, snapshots, clock] = [handFedCache(PERSISTENT_VOLUME_CLAIMS), handFedCache(VM_SNAPSHOTS), new FakeClock()];
  const lists = { allowlist: '*', ignorelist: '' };
  const api = { isThere: true };
  const get = async () => (api.isThere ? { data: lists } : Promise.reject(new Error('the API server is away')));
  const client = { get } as unknown as Client; // nothing else is asked of it
  const seen = { vms, vmis, migrations, pods, claims, snapshots };
  addControllerMetrics({ metrics, ...seen, launcherImage: 'new', configuration, client, clock, signal: stop.signal });
  const samples = async (name: string) =>
    (await metrics
      .all()
      .find((family) => family.name === name)
      ?.samples()) ?? [];
  return { metrics, ...seen, stop, samples, lists, api, clock };
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
    { labels: { ...named, resource: 'memory', unit: 'bytes', source: 'domain' }, value: 128 * 2 ** 20 },
    ...['cores', 'threads', 'sockets'].map((unit) => ({ labels: { ...named, resource: 'cpu', unit, source: 'default' }, value: 1 })),
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
  assert.deepEqual([info?.labels?.['outdated'], info?.labels?.['vmi_pod']], ['false', currentLauncherNameOf(vmi('Running'))]);
});

test('what a machine asks for is shown with where it says so, and its limits', async () => {
  const { vms, samples } = world();
  const domain = {
    cpu: { cores: 2, sockets: 1 },
    memory: { guest: '1Gi' },
    resources: { requests: { cpu: '500m' }, limits: { cpu: 3, memory: '2Gi' } },
    devices: {},
  };
  vms.put({ ...vm('Always'), spec: { runStrategy: 'Always', template: { spec: { domain } } } });
  const shown = async (field: string) =>
    (await samples(`kubevirt_vm_resource_${field}`)).map(({ labels = {}, value }) => [
      labels['resource'],
      labels['unit'],
      labels['source'],
      value,
    ]);
  assert.deepEqual(await shown('requests'), [
    ['memory', 'bytes', 'guest', 2 ** 30],
    ['cpu', 'cores', 'domain', 2],
    ['cpu', 'sockets', 'domain', 1],
    ['cpu', 'cores', 'requests', 0.5],
  ]);
  assert.deepEqual(await shown('limits'), [
    ['memory', 'bytes', undefined, 2 * 2 ** 30],
    ['cpu', 'cores', undefined, 3],
  ]);
});

test('network cards are shown with their networks, and PVCs with their sizes', async () => {
  const { vms, vmis, claims, samples } = world();
  const spec: VmiSpec = {
    domain: {
      devices: {
        interfaces: [
          { name: 'net', masquerade: {}, model: 'virtio' },
          { name: 'nowhere', bridge: {} },
        ],
      },
    },
    networks: [{ name: 'net', pod: {} }],
    volumes: [
      { name: 'root', persistentVolumeClaim: { claimName: 'disk' } },
      { name: 'data', dataVolume: { name: 'missing' } },
    ],
  };
  vms.put({ ...vm('Always'), spec: { runStrategy: 'Always', template: { spec } } });
  vmis.put({ ...vmi('Running'), spec });
  claims.put({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { namespace: 'default', name: 'disk', resourceVersion: '1' },
    spec: { volumeMode: 'Filesystem', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  const named = { namespace: 'default', name: 'db' };
  const nic = { ...named, vnic_name: 'net', binding_type: 'core', network: 'pod networking', binding_name: 'masquerade' };
  assert.deepEqual(await samples('kubevirt_vm_vnic_info'), [{ labels: nic, value: 1 }]);
  assert.deepEqual(await samples('kubevirt_vmi_vnic_info'), [{ labels: { ...nic, model: 'virtio' }, value: 1 }]);
  const disk = { ...named, persistentvolumeclaim: 'disk', volume_mode: 'Filesystem', device: 'root' };
  assert.deepEqual(await samples('kubevirt_vm_disk_allocated_size_bytes'), [{ labels: disk, value: 2 ** 30 }]);
});

test('labels of a machine are shown as an administrator says, under names that Prometheus takes', async () => {
  const { vms, lists, api, clock, samples } = world();
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`n${index}`, '']));
  vms.put(vm('Always', {}, { labels: { 'app.kubernetes.io/name': 'shop', '7up': 'x', name: 'a lie', team: 'blue' } }));
  const shown = async () => {
    clock.advance(60_000);
    return (await samples('kubevirt_vm_labels')).map(({ labels }) => labels);
  };
  const named = { namespace: 'default', name: 'db' };
  const all = { label_app_kubernetes_io_name: 'shop', label__7up: 'x', label_name: 'a lie', label_team: 'blue' };
  api.isThere = false;
  assert.deepEqual(await shown(), [], 'nobody knows what may be shown');
  api.isThere = true;
  assert.deepEqual(await shown(), [{ ...all, ...named }]);
  Object.assign(lists, { allowlist: ' team , name', ignorelist: 'name' });
  assert.deepEqual(await shown(), [{ label_team: 'blue', ...named }]);
  api.isThere = false;
  assert.deepEqual(await shown(), [{ label_team: 'blue', ...named }]);
  api.isThere = true;
  lists.allowlist = '';
  assert.deepEqual(await shown(), []);
  lists.allowlist = '*';
  vms.put(vm('Always', {}, { labels: many, resourceVersion: '2' }));
  assert.equal(Object.keys((await shown())[0] ?? {}).length, 32 + 2);
});

test('snapshots that succeeded, what a launcher needs and whether guests are emulated are shown', async () => {
  const { vmis, snapshots, samples } = world();
  const snapshot = (name: string, phase: string): VirtualMachineSnapshot => ({
    apiVersion: 'snapshot.kubevirt.io/v1beta1',
    kind: 'VirtualMachineSnapshot',
    metadata: { namespace: 'default', name, resourceVersion: '1' },
    spec: { source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: 'db' } },
    status: { phase, creationTime: '2026-01-01T00:00:05Z' },
  });
  for (const [name, phase] of Object.entries({ good: 'Succeeded', bad: 'Failed' })) snapshots.put(snapshot(name, phase));
  vmis.put(vmi('Running'));
  assert.deepEqual(await samples('kubevirt_vmsnapshot_succeeded_timestamp_seconds'), [
    { labels: { namespace: 'default', name: 'db', snapshot_name: 'good' }, value: SECONDS + 5 },
  ]);
  assert.deepEqual(await samples('kubevirt_vmi_launcher_memory_overhead_bytes'), [
    { labels: { namespace: 'default', name: 'db' }, value: launcherOverheadBytes(vmi('Running').spec, DEFAULT_CONFIGURATION) },
  ]);
  assert.deepEqual(await samples('kubevirt_configuration_emulation_enabled'), [{ value: 0 }]);
});

function migration(name: string, phase?: MigrationPhase): VirtualMachineInstanceMigration {
  const metadata = { name, namespace: 'default', uid: `uid-${name}`, resourceVersion: '1' };
  const { group, kind, version } = MIGRATIONS;
  return {
    apiVersion: `${group}/${version}`,
    kind: kind as 'VirtualMachineInstanceMigration',
    metadata,
    spec: { vmiName: 'db' },
    status: { phase },
  };
}

test('migrations are counted by phase, and those that are over are named', async () => {
  const { migrations, samples } = world();
  migrations.put(migration('a'));
  migrations.put(migration('b', 'Pending'));
  for (const [name, phase] of Object.entries({ c: 'Scheduled', d: 'TargetReady', e: 'Succeeded', f: 'Failed' } as const))
    migrations.put(migration(name, phase));
  const count = async (phase: string) => (await samples(`kubevirt_vmi_migrations_in_${phase}_phase`)).map(({ value }) => value);
  const counts = await Promise.all(['unset', 'pending', 'scheduling', 'running'].map(count));
  assert.deepEqual(counts, [[1], [1], [0], [2]]);
  const of = (vmim: string) => [{ labels: { namespace: 'default', vmi: 'db', vmim }, value: 1 }];
  assert.deepEqual(await samples('kubevirt_vmi_migration_succeeded'), of('e'));
  assert.deepEqual(await samples('kubevirt_vmi_migration_failed'), of('f'));
});

test('a move shows when it began and ended, and how far it is while it is under way', async () => {
  const { migrations, vmis, samples } = world();
  const placed = { node: 'n1', namespace: 'default', name: 'db' };
  const progress = { stage: 'Memory', bytesDone: 7, bytesLeft: 3, bytesPerSecond: 5, dirtyBytesPerSecond: 2, lastUpdate: 'T' } as const;
  const state = { migrationUid: 'uid-a', startTimestamp: '2026-01-01T00:00:01Z', progress };
  migrations.put(migration('a', 'Running'));
  vmis.put(vmi('Running', { nodeName: 'n1', migrationState: state }));
  const shown = (name: string) => samples(`kubevirt_vmi_migration_${name}`);
  const figures = [
    'data_processed_bytes',
    'data_remaining_bytes',
    'data_bytes_total',
    'dirty_memory_rate_bytes',
    'memory_transfer_rate_bytes',
  ];
  const values = async () => (await Promise.all(figures.map(shown))).map((each) => each.map(({ value }) => value));
  assert.deepEqual(await values(), [[7], [3], [10], [2], [5]]);
  assert.deepEqual(await shown('start_time_seconds'), [{ labels: { ...placed, migration_name: 'a' }, value: SECONDS + 1 }]);
  const over = { ...state, failed: true, endTimestamp: '2026-01-01T00:00:09Z' };
  vmis.put(vmi('Running', { nodeName: 'n1', migrationState: over }, { resourceVersion: '2' }));
  assert.deepEqual(await values(), [[], [], [], [], []]);
  const [end] = await shown('end_time_seconds');
  assert.deepEqual(end, { labels: { ...placed, migration_name: 'a', status: 'failed' }, value: SECONDS + 9 });
});

test('so is what keeps it by the strategy of the installation', async () => {
  const { vmis, samples } = world(fixedConfiguration({ evictionStrategy: 'LiveMigrate' }));
  vmis.put(vmi('Running', { conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable' }] }));
  assert.deepEqual(
    [(await samples('kubevirt_vmi_non_evictable'))[0]?.value, (await samples('kubevirt_vmi_info'))[0]?.labels?.['evictable']],
    [1, 'false'],
  );
});

test('what keeps a node from being drained is shown, and what runs in an older launcher', async () => {
  const { vmis, pods, samples } = world();
  const stays = vmi('Running', { conditions: [{ type: 'LiveMigratable', status: 'False', reason: 'DisksNotLiveMigratable' }] });
  const shown = async () => [
    (await samples('kubevirt_vmi_non_evictable'))[0]?.value,
    (await samples('kubevirt_vmi_info'))[0]?.labels?.['evictable'],
    (await samples('kubevirt_vmi_number_of_outdated'))[0]?.value,
  ];
  vmis.put(stays);
  assert.deepEqual(await shown(), [0, 'true', 0]);
  vmis.put({ ...stays, metadata: { ...stays.metadata, resourceVersion: '2' }, spec: { ...stays.spec, evictionStrategy: 'LiveMigrate' } });
  pods.put(launcherPod({ running: { startedAt: '2026-01-01T00:00:00Z' } }));
  assert.deepEqual(await shown(), [1, 'false', 1]);
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
