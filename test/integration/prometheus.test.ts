/** What we show, as a real Prometheus reads it: with a token, over TLS, and with the rules that an installation brings. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { PODS } from '../../src/api/core/pod.ts';
import { SERVICE_ACCOUNTS } from '../../src/api/core/service-account.ts';
import { MIGRATIONS } from '../../src/api/kubevirt/kinds/migration.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { MetricFamilies } from '../../src/base/metrics.ts';
import { addProcessMetrics, renderMetrics } from '../../src/base/node/metrics-page.ts';
import { newSigningKey } from '../../src/base/node/signing-key.ts';
import { startMetricsServer } from '../../src/cmd/cluster/metrics-server.ts';
import { grant } from '../../src/control-plane/apiserver/access/rights.testing.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { temporaryFolder } from '../../src/qemu/qmp/qemu.testing.ts';
import { byController } from '../../src/reconcile/owner.ts';
import { reached, vm, vmi } from '../../src/testing/builders.ts';
import { fixedConfiguration } from '../../src/testing/fixed-configuration.ts';
import { handFedCache } from '../../src/testing/hand-fed-cache.ts';
import { addStreamMetrics } from '../../src/virt-api/stream-metrics.ts';
import { addControllerMetrics } from '../../src/virt-controller/metrics/add-metrics.ts';
import { addGuestFamilies } from '../../src/virt-handler/metrics/guest-families.ts';
import { readDisks, readNetworks } from '../../src/virt-handler/metrics/guest-figures.ts';
import { ALERT_GROUPS } from '../../src/virt-operator/render/alert-rules-table.ts';
import { findPrometheus } from '../../tools/prometheus/ensure.ts';

const found = findPrometheus();
const skip = found ? false : 'Prometheus is not there: script/bootstrap --for-tests';
const { prometheus = '', promtool = '' } = found ?? {};
/** A name that a guest could have chosen. */
const HOSTILE = 'Debian" } evil_total{x="\\\n# TYPE';

test('promtool finds nothing to object to, in any family of any component', { skip }, async () => {
  const { text } = await renderMetrics(everything());
  const { status, stderr, stdout } = spawnSync(promtool, ['check', 'metrics'], { input: text, encoding: 'utf8' });
  assert.deepEqual([status, stdout, stderr], [0, '', '']);
  assert.ok(text.split('\n').length > 100);
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

  const ask = await startPrometheus(t, { target: `127.0.0.1:${server.port}`, token: answer.status.token });
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
  metrics.gauge('kubevirt_virt_controller_leading_status', 'Whether it works.', () => 1);
  const status = { nodeName: 'n1', guestOSInfo: { name: HOSTILE }, interfaces: [{ name: 'default', ipAddress: '10.244.0.5' }] };
  const [vms, vmis] = [handFedCache(VMS), handFedCache(VMIS)];
  const [migrations, pods] = [handFedCache(MIGRATIONS), handFedCache(PODS, byController)];
  addControllerMetrics({ metrics, vms, vmis, migrations, pods, configuration: fixedConfiguration(), launcherImage: 'new', signal });
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

type Result = { readonly metric: Readonly<Record<string, string>>; readonly value: readonly [number, string] };

/** Resolves when it serves; what it returns asks until there is an answer. */
async function startPrometheus(t: TestContext, { target, token }: { target: string; token: string }) {
  const folder = await temporaryFolder(t);
  const files = {
    'prometheus.yaml': {
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: ['rules.yaml'],
      scrape_configs: [
        {
          job_name: 'kubevirt',
          scheme: 'https',
          honor_labels: true,
          tls_config: { insecure_skip_verify: true },
          authorization: { credentials_file: 'token' },
          static_configs: [{ targets: [target] }],
        },
      ],
    },
    'rules.yaml': { groups: ALERT_GROUPS },
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
  await writeFile(join(folder, 'token'), token);
  const port = await freePort();
  const args = ['--config.file=prometheus.yaml', '--storage.tsdb.path=data', `--web.listen-address=127.0.0.1:${port}`, '--log.level=error'];
  const child = spawn(prometheus, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  t.after(() => {
    child.kill('SIGKILL');
    return ended;
  });
  return async (query: string): Promise<Result | undefined> => {
    const giveUpAt = performance.now() + 60_000;
    for (;;) {
      const result = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${query}`).then(
        async (response) => (response.ok ? ((await response.json()) as { data: { result: Result[] } }).data.result[0] : undefined),
        () => undefined, // not yet
      );
      if (result || performance.now() > giveUpAt || child.exitCode !== null) return result;
      await systemClock.sleep(100);
    }
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number }; // it listens on a port
  server.close();
  await once(server, 'close');
  return port;
}
