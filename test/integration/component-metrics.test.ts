/** /metrics of every component, each started as its Pod starts it, in front of the real API server, as a real Prometheus reads all of them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { CONFIG_MAPS } from '../../src/api/core/configmap.ts';
import { NODES } from '../../src/api/core/node.ts';
import { SERVICE_ACCOUNTS } from '../../src/api/core/service-account.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { Pki } from '../../src/base/node/pki.ts';
import type { KeyPair } from '../../src/base/node/pki-files.ts';
import { newSigningKey } from '../../src/base/node/signing-key.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { apply, applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { requestHeaderTrust } from '../../src/cmd/embedded/request-header-trust.ts';
import { grant } from '../../src/control-plane/apiserver/access/rights.testing.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { temporaryPki } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { findPrometheus } from '../../tools/prometheus/ensure.ts';
import { freePort, startPrometheus } from './start-prometheus.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const skip = findPrometheus() ? false : 'Prometheus is not there: script/bootstrap --for-tests';
const COMPONENTS = ['virt-api', 'virt-controller', 'virt-handler', 'virt-operator'] as const;

test('every component says that it works, and what it does', { skip, timeout: 180_000 }, async (t) => {
  const { kubeconfig, folder, pki, token, client } = await startCluster(t);
  await writePairs(folder, pki);
  const flags: Readonly<Record<(typeof COMPONENTS)[number], readonly string[]>> = {
    'virt-api': [
      '--port',
      '0',
      '--serving-certificate',
      join(folder, 'virtApi'),
      '--handler-client-certificate',
      join(folder, 'virtHandlerClient'),
    ],
    'virt-controller': ['--launcher-image', 'launcher', '--container-disks', 'container'],
    'virt-handler': [
      ...['--port', '0', '--node', 'n1', '--kubelet-root', join(folder, 'kubelet')],
      ...['--serving-certificate', join(folder, 'virtHandler'), '--migration-certificate', join(folder, 'migrationClient')],
    ],
    'virt-operator': ['--image', 'image'],
  };
  const ports = await Promise.all(COMPONENTS.map(() => freePort()));
  COMPONENTS.forEach((name, index) => {
    const common = ['--kubeconfig', kubeconfig, '--host', '127.0.0.1', '--health-port', '0', '--metrics-port', String(ports[index])];
    const bundle = name === 'virt-api' || name === 'virt-handler' ? ['--authority-bundle', join(folder, 'authorities')] : [];
    const args = [join(PROJECT, `src/cmd/${name}.ts`), ...common, ...bundle, ...flags[name]];
    endAfter(t, spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'], env: { PATH: process.env['PATH'] } }));
  });
  const metadata = { name: 'db', namespace: 'default' };
  const spec = { runStrategy: 'Halted' as const, template: { spec: tinySpec } };
  await client.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata, spec });

  const ask = await startPrometheus(t, { targets: ports.map((port) => `127.0.0.1:${port}`), token });
  for (const component of ['api', 'controller', 'handler', 'operator'])
    assert.ok(await ask(`kubevirt_virt_${component}_ready_status == 1`), `virt-${component} is ready`);
  for (const component of ['controller', 'operator']) assert.ok(await ask(`kubevirt_virt_${component}_leading_status == 1`), component);
  for (const [index, port] of ports.entries()) {
    const instance = `instance="127.0.0.1:${port}"`;
    assert.ok(await ask(`kubevirt_info{${instance}}`), COMPONENTS[index]);
    assert.ok(await ask(`sum(kubevirt_rest_client_requests_total{${instance},code="200"}) > 0`), COMPONENTS[index]);
    assert.ok(await ask(`sum(kubevirt_rest_client_request_latency_seconds_count{${instance}}) > 0`), COMPONENTS[index]);
  }
  assert.equal((await ask('kubevirt_vm_info'))?.metric['name'], 'db');
  for (const name of ['virtualmachine-controller', 'virt-handler', 'virt-operator'])
    assert.ok(await ask(`kubevirt_workqueue_depth{name="${name}"}`), name);
});

/** The real API server with the definitions, and an account that may read metrics. */
async function startCluster(t: TestContext) {
  const [api, { pki, folder, remove }] = await Promise.all([startTestServer({ signingKey: newSigningKey() }), temporaryPki()]);
  const { client } = api;
  await applyManifests(client, join(PROJECT, 'deploy/crds'), (object) => object);
  await apply(client, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'kubevirt' } });
  await client.create(CONFIG_MAPS, requestHeaderTrust(pki));
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  const account = { name: 'prometheus', namespace: 'default' };
  await client.create(SERVICE_ACCOUNTS, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  await grant(client, { rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }], subject: { kind: 'ServiceAccount', ...account } });
  const path = '/api/v1/namespaces/default/serviceaccounts/prometheus/token';
  const answer = (await (await api.fetch(path, { method: 'POST', body: '{"spec":{}}' })).json()) as { status: { token: string } };
  const server = await listen({
    handle: (...args) => api.server.handle(...args),
    upgrade: () => Promise.reject(new Error('there is no guest')),
    reviewToken: async (token) => api.server.reviewToken(token),
    pki,
    port: 0,
    log: silentLogger,
  });
  const kubeconfig = join(folder, 'kubeconfig');
  await writeKubeconfig(kubeconfig, { name: 'test', server: `https://localhost:${server.port}`, ca: pki.ca, ...pki.admin });
  t.after(async () => {
    await server.close();
    api.close();
    await remove();
  });
  return { kubeconfig, folder, pki, token: answer.status.token, client };
}

/** As Secrets are mounted. */
async function writePairs(folder: string, pki: Pki): Promise<void> {
  const pairs: readonly (readonly [string, KeyPair])[] = (['virtApi', 'virtHandler', 'virtHandlerClient', 'migrationClient'] as const).map(
    (name) => [name, pki[name]],
  );
  for (const [name, { cert, key }] of pairs) {
    await mkdir(join(folder, name), { recursive: true });
    await writeFile(join(folder, name, 'tls.crt'), cert);
    await writeFile(join(folder, name, 'tls.key'), key);
  }
  await writeFile(join(folder, 'authorities'), pki.kubevirtCa);
}

function endAfter(t: TestContext, child: ChildProcess): void {
  const ended = once(child, 'exit');
  t.after(async () => {
    child.kill('SIGKILL');
    await ended;
  });
}
