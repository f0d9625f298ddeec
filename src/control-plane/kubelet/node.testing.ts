/** A node for tests: a real API server in memory, a real kubelet, real processes, all gone afterwards. */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Container, PODS, type Pod, type PodSpec } from '../../api/core/pod.ts';
import type { ObjectMeta } from '../../api/meta.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { removeCgroupsOf } from '../../base/node/container-cgroups.ts';
import { findByVariable, signalProcess } from '../../base/node/process-identity.ts';
import { SANDBOX_VARIABLE } from '../../base/node/sandbox-path.ts';
import { timeoutSignal } from '../../base/timeout-signal.ts';
import type { Client } from '../../client/client.ts';
import { type ImageStore, openImageStore } from '../../images/store.ts';
import { writeImage } from '../../images/write-image.ts';
import { until } from '../../testing/until.ts';
import type { Hooks } from '../apiserver/server-parts.ts';
import { startTestServer, type TestServer } from '../apiserver/test-server.testing.ts';
import { closeSandbox } from './containers/sandbox.ts';
import { type Kubelet, type KubeletOptions, startKubelet } from './start.ts';

export type TestNode = {
  readonly client: Client;
  readonly server: TestServer;
  readonly rootDir: string;
  readonly dir: string;
  readonly images: ImageStore;
  /** Starts a kubelet; the one before must have been stopped. */
  start(options?: Partial<KubeletOptions>): Kubelet;
  /** As `kill -9` would do it, as far as containers can tell: they go on. */
  stop(): Promise<void>;
  /** Makes a Pod that is already bound to this node. */
  run(name: string, spec: Partial<PodSpec> & { readonly containers: readonly Container[] }, metadata?: Partial<ObjectMeta>): Promise<Pod>;
  /** The Pod once the condition holds, from a watch; fails after ten seconds. */
  when(name: string, condition: (pod: Pod) => boolean): Promise<Pod>;
  /** Resolves when the API no longer has it. */
  gone(name: string): Promise<void>;
};

const NODE = 'n1';
const PATIENCE_MS = 30_000;
/** The image whose programs are sh and sleep. */
const SHELL = 'test/shell:latest';

/** A container that runs this script. */
export function sh(script: string, more: Partial<Container> = {}): Container {
  return { name: 'main', image: SHELL, command: ['sh', '-c', script], ...more };
}

export async function testNode(t: TestContext, options: { signingKey?: string; hooks?: Hooks } = {}): Promise<TestNode> {
  const dir = await mkdtemp(join(tmpdir(), 'kubelet-'));
  const server = await startTestServer(options);
  const { client } = server;
  const rootDir = join(dir, 'kubelet');
  const programs = join(dir, 'programs');
  await mkdir(programs);
  for (const name of ['sh', 'sleep']) await symlink(`/bin/${name}`, join(programs, name));
  const images = openImageStore(join(dir, 'images'));
  let running: { kubelet: Kubelet; stop: AbortController } | undefined;

  const node: TestNode = {
    client,
    server,
    rootDir,
    dir,
    images,
    start(options) {
      const stop = new AbortController();
      const kubelet = startKubelet({
        client,
        nodeName: NODE,
        rootDir,
        images,
        builtInImages: { 'test/shell': { path: programs, programs: ['sh', 'sleep', 'absent'] } },
        clock: systemClock,
        log: silentLogger,
        signal: stop.signal,
        mayBecome: () => false,
        ...options,
      });
      running = { kubelet, stop };
      return kubelet;
    },
    async stop() {
      running?.stop.abort();
      await running?.kubelet.stopped;
      running = undefined;
    },
    run: (name, spec, metadata = {}) =>
      client.create(PODS, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace: 'default', ...metadata },
        spec: { nodeName: NODE, restartPolicy: 'Never', ...spec },
      }),
    async when(name, condition) {
      const found = await client.get(PODS, { namespace: 'default', name });
      if (found && condition(found)) return found;
      const signal = timeoutSignal(PATIENCE_MS);
      let last = found;
      for await (const { object } of client.watch(PODS, { namespace: 'default', fieldSelector: `metadata.name=${name}`, signal })) {
        last = object as Pod;
        if (condition(last)) return last;
      }
      throw new Error(`waited in vain; the Pod's status is ${JSON.stringify(last?.status, null, 1)}`);
    },
    gone: (name) => until(async () => !(await client.get(PODS, { namespace: 'default', name })), `Pod ${name} to go`),
  };
  t.after(async () => {
    await node.stop();
    const pods = await readdir(join(rootDir, 'pods')).catch(() => []);
    for (const pod of pods) closeSandbox(join(rootDir, 'pods', pod));
    for (const left of processesOf(dir)) signalProcess(left, 'SIGKILL');
    await removeCgroupsOf(dir, systemClock);
    server.close();
    await rm(dir, { recursive: true, force: true });
  });
  return node;
}

/** Processes of any container below this folder. */
export function processesOf(dir: string): ReturnType<typeof findByVariable> {
  return findByVariable(SANDBOX_VARIABLE, (value) => value.startsWith(`${dir}/`));
}

/** Puts an image with one file, disk/disk.img, into the node's store. */
export async function addDiskImage({ dir }: TestNode, reference: string, text: string): Promise<void> {
  const path = join(dir, 'disk.img');
  await writeFile(path, text);
  await writeImage({ dir: join(dir, 'images'), reference, files: [{ path, name: 'disk/disk.img' }] });
}
