/** The web page of the real API server with many machines that nobody runs, for a real browser. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import type { HostCheck } from '../../src/api/page/host-checks.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import type { Client } from '../../src/client/client.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { temporaryPki } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { tinySpec } from '../../src/testing/builders.ts';
import { readPageFiles } from '../../src/ui-server/page-files.ts';
import { startUiServer } from '../../src/ui-server/start.ts';
import { buildUi } from '../../tools/ui/build.ts';

/** Written at once. */
const AT_ONCE = 100;

/** As `virtctl doctor` could find them. */
const HOST_CHECKS: readonly HostCheck[] = [
  { name: 'node', status: 'ok', text: 'v24.1.0' },
  { name: 'acceleration', status: 'warning', text: '<img src=x onerror=alert(1)>', fix: 'turn on virtualization in the firmware' },
  { name: 'data disk', status: 'failed', text: '0 MiB free', fix: 'set VIRT_HOME to a folder on a bigger disk' },
];

export type PageOfMachines = AsyncDisposable & {
  readonly client: Client;
  /** An address that lets one browser in, once. */
  link(): string;
  readonly names: readonly string[];
  /** Ends `virtctl ui` and starts another one at its place, which knows no browser. */
  startAnew(): Promise<void>;
};

/** Every tenth machine is an instance that runs, all others are stopped. */
export async function startPageOfMachines(count: number): Promise<PageOfMachines> {
  const [api, { pki, remove }, folder] = await Promise.all([startTestServer(), temporaryPki(), mkdtemp(join(tmpdir(), 'kubevirt-ts-'))]);
  await applyManifests(api.client, join(import.meta.dirname, '../../deploy/crds'), (object) => object);
  const server = await listen({
    handle: (...args) => api.server.handle(...args),
    upgrade: () => Promise.reject(new Error('there is no guest')),
    pki,
    port: 0,
    log: silentLogger,
  });
  await buildUi(join(folder, 'ui'));
  const files = readPageFiles(join(folder, 'ui'));
  const cluster = { context: 'many', server: `https://localhost:${server.port}`, ca: pki.ca, ...pki.admin };
  const newKey = () => randomBytes(32).toString('base64url');
  const startPage = (port: number) =>
    startUiServer({
      cluster,
      reload: async () => cluster,
      version: 'test',
      namespace: 'default',
      files: () => files,
      port,
      keys: { link: newKey(), session: newKey() },
      lookAtHost: async () => HOST_CHECKS,
      clock: systemClock,
      log: silentLogger,
    });
  let page = await startPage(0);
  const names = Array.from({ length: count }, (_, index) => `vm-${String(index).padStart(5, '0')}`);
  for (let from = 0; from < count; from += AT_ONCE)
    await Promise.all(names.slice(from, from + AT_ONCE).map((name, index) => make(api.client, name, (from + index) % 10 === 0)));
  return {
    client: api.client,
    link: () => page.link(),
    async startAnew() {
      const port = Number(new URL(page.link()).port);
      await page.close();
      page = await startPage(port);
    },
    names,
    async [Symbol.asyncDispose]() {
      await page.close();
      await server.close();
      api.close();
      await Promise.all([remove(), rm(folder, { recursive: true, force: true })]);
    },
  };
}

async function make(client: Client, name: string, runs: boolean): Promise<unknown> {
  const [apiVersion, metadata] = ['kubevirt.io/v1', { name, namespace: 'default' }];
  if (!runs)
    return client.create(VMS, {
      apiVersion,
      kind: 'VirtualMachine',
      metadata,
      spec: { runStrategy: 'Halted', template: { spec: tinySpec } },
    });
  const status = { phase: 'Running' as const, nodeName: 'n1', interfaces: [{ name: 'default', ipAddress: '10.244.0.5' }] };
  return client.create(VMIS, { apiVersion, kind: 'VirtualMachineInstance', metadata, spec: tinySpec, status });
}
