/** What we show, as a real Prometheus reads it: with a token, over TLS, and with the rules that an installation brings. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { PODS } from '../../src/api/core/pod.ts';
import { SERVICE_ACCOUNTS } from '../../src/api/core/service-account.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../src/api/core/volume.ts';
import { MIGRATIONS } from '../../src/api/kubevirt/kinds/migration.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_SNAPSHOTS } from '../../src/api/kubevirt/kinds/vm-snapshot.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { MetricFamilies } from '../../src/base/metrics.ts';
import { addProcessMetrics, renderMetrics } from '../../src/base/node/metrics-page.ts';
import { newSigningKey } from '../../src/base/node/signing-key.ts';
import type { Client } from '../../src/client/client.ts';
import { countRequests } from '../../src/cmd/cluster/count-requests.ts';
import { startMetricsServer } from '../../src/cmd/cluster/metrics-server.ts';
import { grant } from '../../src/control-plane/apiserver/access/rights.testing.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { temporaryFolder } from '../../src/qemu/qmp/qemu.testing.ts';
import { byController } from '../../src/reconcile/owner.ts';
import { QueueFigures } from '../../src/reconcile/queue-figures.ts';
import { reached, vm, vmi } from '../../src/testing/builders.ts';
import { fixedConfiguration } from '../../src/testing/fixed-configuration.ts';
import { handFedCache } from '../../src/testing/hand-fed-cache.ts';
import { CreatedMachines } from '../../src/virt-api/created-machines.ts';
import { LastConnections } from '../../src/virt-api/last-connections.ts';
import { addStreamMetrics } from '../../src/virt-api/stream-metrics.ts';
import { addControllerMetrics } from '../../src/virt-controller/metrics/add-metrics.ts';
import { addGuestFamilies } from '../../src/virt-handler/metrics/guest-families.ts';
import { readDisks, readNetworks } from '../../src/virt-handler/metrics/guest-figures.ts';
import { GuestPanics } from '../../src/virt-handler/metrics/guest-panics.ts';
import { ALERT_GROUPS } from '../../src/virt-operator/render/alert-rules-table.ts';
import { findPrometheus } from '../../tools/prometheus/ensure.ts';
import { startPrometheus } from './start-prometheus.ts';

const found = findPrometheus();
const skip = found ? false : 'Prometheus is not there: script/bootstrap --for-tests';
const { promtool = '' } = found ?? {};
/** A name that a guest could have chosen. */
const HOSTILE = 'Debian" } evil_total{x="\\\n# TYPE';

test('promtool finds nothing to object to, in any family of any component', { skip }, async () => {
  const { text } = await renderMetrics(everything());
  const { status, stderr, stdout } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  assert.ok(text.split('\n').length > 100);
});

/** What KubeVirt publishes and is of any use to people, but for what there is none of here: USB devices are not lent to guests. */
const PUBLISHED = `
kubevirt_info kubevirt_vm_info kubevirt_vm_running_status_last_transition_timestamp_seconds
kubevirt_vm_starting_status_last_transition_timestamp_seconds kubevirt_vm_migrating_status_last_transition_timestamp_seconds
kubevirt_vm_non_running_status_last_transition_timestamp_seconds kubevirt_vm_error_status_last_transition_timestamp_seconds
kubevirt_vm_resource_requests kubevirt_vm_resource_limits kubevirt_vm_create_date_timestamp_seconds kubevirt_vm_created_by_pod_total
kubevirt_vm_disk_allocated_size_bytes kubevirt_vm_labels kubevirt_vm_vnic_info kubevirt_number_of_vms kubevirt_vmi_info kubevirt_vmi_phase_count
kubevirt_vmi_phase_transition_time_seconds kubevirt_vmi_phase_transition_time_from_creation_seconds
kubevirt_vmi_phase_transition_time_from_deletion_seconds kubevirt_vmi_cpu_usage_seconds_total kubevirt_vmi_cpu_user_usage_seconds_total
kubevirt_vmi_cpu_system_usage_seconds_total kubevirt_vmi_vcpu_seconds_total kubevirt_vmi_vcpu_wait_seconds_total
kubevirt_vmi_vcpu_delay_seconds_total kubevirt_vmi_memory_domain_bytes kubevirt_vmi_memory_available_bytes kubevirt_vmi_memory_usable_bytes
kubevirt_vmi_memory_unused_bytes kubevirt_vmi_memory_used_bytes kubevirt_vmi_memory_resident_bytes kubevirt_vmi_memory_actual_balloon_bytes
kubevirt_vmi_memory_swap_in_traffic_bytes kubevirt_vmi_memory_swap_out_traffic_bytes kubevirt_vmi_network_receive_bytes_total
kubevirt_vmi_network_receive_packets_total kubevirt_vmi_network_receive_errors_total kubevirt_vmi_network_receive_packets_dropped_total
kubevirt_vmi_network_transmit_bytes_total kubevirt_vmi_network_transmit_packets_total kubevirt_vmi_network_transmit_errors_total
kubevirt_vmi_network_transmit_packets_dropped_total kubevirt_vmi_storage_iops_read_total kubevirt_vmi_storage_iops_write_total
kubevirt_vmi_storage_read_traffic_bytes_total kubevirt_vmi_storage_write_traffic_bytes_total kubevirt_vmi_storage_read_times_seconds_total
kubevirt_vmi_storage_write_times_seconds_total kubevirt_vmi_storage_flush_requests_total kubevirt_vmi_filesystem_capacity_bytes
kubevirt_vmi_filesystem_used_bytes kubevirt_vmi_migrations_in_pending_phase kubevirt_vmi_migrations_in_scheduling_phase
kubevirt_vmi_migrations_in_running_phase kubevirt_vmi_migrations_in_unset_phase kubevirt_vmi_migration_succeeded kubevirt_vmi_migration_failed
kubevirt_vmi_migration_data_processed_bytes kubevirt_vmi_migration_data_remaining_bytes kubevirt_vmi_migration_data_bytes_total
kubevirt_vmi_migration_dirty_memory_rate_bytes kubevirt_vmi_migration_memory_transfer_rate_bytes kubevirt_vmi_migration_start_time_seconds
kubevirt_vmi_migration_end_time_seconds kubevirt_vmi_non_evictable kubevirt_vmi_number_of_outdated kubevirt_vmi_status_addresses
kubevirt_vmi_guest_os_panic_total kubevirt_vmi_launcher_memory_overhead_bytes kubevirt_console_active_connections
kubevirt_vnc_active_connections kubevirt_portforward_active_tunnels kubevirt_vmi_last_api_connection_timestamp_seconds
kubevirt_virt_api_ready_status kubevirt_virt_controller_ready_status kubevirt_virt_controller_leading_status kubevirt_virt_handler_ready_status
kubevirt_virt_operator_ready_status kubevirt_virt_operator_leading_status kubevirt_rest_client_requests_total
kubevirt_rest_client_request_latency_seconds kubevirt_workqueue_depth kubevirt_workqueue_adds_total kubevirt_configuration_emulation_enabled
kubevirt_vmsnapshot_succeeded_timestamp_seconds`;

test('every family that KubeVirt publishes is shown, or recorded by a rule', () => {
  const recorded = JSON.stringify(ALERT_GROUPS).matchAll(/"record":"(\w+)"/g);
  const shown = everything().all();
  const names = new Set([...shown.map(({ name }) => name), ...[...recorded].map(([, name]) => name)]);
  const missing = PUBLISHED.trim()
    .split(/\s+/)
    .filter((name) => !names.has(name));
  assert.deepEqual(missing, []);
});

test('the alert rules are ones that Prometheus takes, and are made of families that we show', { skip }, async (t) => {
  const file = join(await temporaryFolder(t), 'rules.yaml');
  await writeFile(file, JSON.stringify({ groups: ALERT_GROUPS }));
  const { status, stdout, stderr } = spawnSync(promtool, ['check', 'rules', file], { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}${stderr}`);
  const shown = new Set(
    everything()
      .all()
      .map(({ name }) => name),
  );
  for (const name of namesIn(JSON.stringify(ALERT_GROUPS))) assert.ok(shown.has(name), name);
});

test('the dashboard is made of families that we show', () => {
  const dashboard = readFileSync('examples/grafana-dashboard.json', 'utf8');
  const shown = new Set(
    everything()
      .all()
      .map(({ name }) => name),
  );
  const names = namesIn(dashboard);
  assert.ok(names.length >= 10);
  for (const name of names) assert.ok(shown.has(name), name);
});

test('a real Prometheus reads them with its token, hostile labels and all', { skip, timeout: 120_000 }, async (t) => {
  const api = await startTestServer({ signingKey: newSigningKey() });
  t.after(api.close);
  const account = { name: 'prometheus', namespace: 'default' };
  await api.client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  const rules = [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }];
  await grant(api.client, { rules, subject: { kind: 'ServiceAccount', ...account } });
  const path = '/api/v1/namespaces/default/serviceaccounts/prometheus/token';
  const answer = (await (await api.fetch(path, { method: 'POST', body: '{"spec":{}}' })).json()) as { status: { token: string } };
  const options = { component: 'virt-handler', client: api.client, host: '127.0.0.1', port: 0, clock: systemClock, log: silentLogger };
  const server = await startMetricsServer({ ...options, metrics: everything() });
  t.after(() => server.close());

  const ask = await startPrometheus(t, { targets: [`127.0.0.1:${server.port}`], token: answer.status.token });
  const memory = await ask('kubevirt_vmi_memory_domain_bytes');
  assert.deepEqual([memory?.metric['name'], memory?.metric['node'], memory?.value[1]], ['db', 'n1', String(128 * 2 ** 20)]);
  assert.equal((await ask('kubevirt_vmi_info'))?.metric['guest_os_name'], HOSTILE);
  assert.equal((await ask('kubevirt_vmi_phase_transition_time_from_creation_seconds_count'))?.value[1], '1');
  assert.equal((await ask('kubevirt_vmi_memory_used_bytes'))?.value[1], '3', 'a rule of the installation');
});

/** Every family that a component shows of machines, with a sample in each. */
function everything(): MetricFamilies {
  const [metrics, { signal }] = [new MetricFamilies(), new AbortController()];
  addProcessMetrics(metrics, { version: '1.2.3' });
  for (const component of ['api', 'controller', 'handler', 'operator'])
    metrics.gauge(`kubevirt_virt_${component}_ready_status`, 'Whether it does its work.', () => 1);
  for (const component of ['controller', 'operator'])
    metrics.gauge(`kubevirt_virt_${component}_leading_status`, 'Whether it works.', () => 1);
  void countRequests(async () => new Response(), metrics, systemClock)(new Request('https://api/api/v1/pods'));
  new QueueFigures('virt-handler').addTo(metrics, { queue: { depth: 1 }, signal });
  const [created, connections, panics] = [new CreatedMachines(), new LastConnections(systemClock), new GuestPanics()];
  created.observe('VirtualMachine', 'default');
  connections.observe({ resource: 'virtualmachineinstances', subresource: 'console', namespace: 'default', name: 'db', verb: 'get' });
  panics.observe('default/db', {});
  for (const family of [created, connections, panics.family]) metrics.add(family);
  const status = { nodeName: 'n1', guestOSInfo: { name: HOSTILE }, interfaces: [{ name: 'default', ipAddress: '10.244.0.5' }] };
  const [vms, vmis] = [handFedCache(VMS), handFedCache(VMIS)];
  const [migrations, pods] = [handFedCache(MIGRATIONS), handFedCache(PODS, byController)];
  const [claims, snapshots] = [handFedCache(PERSISTENT_VOLUME_CLAIMS), handFedCache(VM_SNAPSHOTS)];
  const client = { get: async () => undefined } as unknown as Client; // there is no configuration of labels
  const seen = { vms, vmis, migrations, pods, claims, snapshots, configuration: fixedConfiguration() };
  addControllerMetrics({ metrics, ...seen, launcherImage: 'new', client, clock: systemClock, signal });
  vms.put(vm('Always', { printableStatus: 'Running' }));
  vmis.put(vmi('Scheduled', reached('Scheduled')));
  const running = vmi('Running', { ...reached('Scheduled', 'Running'), ...status }, { resourceVersion: '2' });
  vmis.put(running);
  const nic = [{ 'hardware-address': '02:01', statistics: { 'rx-bytes': 1 } }];
  const figures = {
    atMs: 0,
    process: { userSeconds: 1, systemSeconds: 1, residentBytes: 1 },
    balloonBytes: 1,
    memory: {
      availableBytes: 5,
      usableBytes: 2,
      unusedBytes: 1,
      cachedBytes: 1,
      swapInBytes: 0,
      swapOutBytes: 0,
      majorFaults: 1,
      minorFaults: 1,
    },
    disks: readDisks([{ qdev: '/machine/peripheral/disk0', stats: {} }], ['root']),
    networks: readNetworks(nic, new Map([['02:01', 'default']])),
    vcpus: [{ id: 0, state: 'running' as const, seconds: 1, waitSeconds: 1, delaySeconds: 1 }],
    fileSystems: [{ diskName: 'vda1', mountPoint: HOSTILE, fileSystemType: 'ext4', usedBytes: 1, totalBytes: 2 }],
  };
  addGuestFamilies({ metrics, nodeName: 'n1', figures: async () => [{ vmi: running, figures }], signal });
  addStreamMetrics(metrics, { open: () => [] }, signal);
  return metrics;
}

/** Names of families in a text; a series of a histogram is of its family, and rules make some themselves. */
function namesIn(text: string): string[] {
  const recorded = new Set([...text.matchAll(/"record":"(\w+)"/g)].map(([, name]) => name));
  const all = [...new Set(text.match(/\bkubevirt_(?:vmi?|virt|number|console|vnc|portforward|info)\w*/g))];
  return all
    .filter((name) => !recorded.has(name) && !/_used_bytes$|_phase_count$|_up$/.test(name))
    .map((name) => name.replace(/_(bucket|sum|count)$/, ''));
}
