/** One node with native containers behind a real TLS front, and kubectl to talk to it. */
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Container, PODS, type Pod } from '../../src/api/core/pod.ts';
import { systemClock } from '../../src/base/clock.ts';
import { silentLogger } from '../../src/base/log.ts';
import { readProcesses } from '../../src/base/node/process-usage.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { createMetrics } from '../../src/cmd/embedded/pod-and-node-metrics.ts';
import type { Hooks } from '../../src/control-plane/apiserver/server-parts.ts';
import { listen } from '../../src/control-plane/apiserver/transport/listen.ts';
import { temporaryPki } from '../../src/control-plane/apiserver/transport/tls.testing.ts';
import { addBusybox, BUSYBOX_IMAGE, skipContainers } from '../../src/control-plane/kubelet/containers/busybox.testing.ts';
import type { PodLogOptions } from '../../src/control-plane/kubelet/logs.ts';
import { type TestNode, testNode } from '../../src/control-plane/kubelet/node.testing.ts';
import { whoWeMayBecome } from '../../src/control-plane/kubelet/privileges.ts';
import type { Kubelet } from '../../src/control-plane/kubelet/start.ts';
import { ensureKubectls } from '../../tools/kubectl/fetch.ts';

export type Result = { readonly code: number | null; readonly stdout: Buffer; readonly stderr: string };
export type StreamNode = {
  readonly node: TestNode;
  /** Ends the kubelet as `kill -9` would and starts the next one. */
  restart(): Promise<void>;
  /** What the only container of a Pod has printed. */
  logs(name: string): Promise<string>;
  /** Runs a Pod of busybox until it is Running. */
  pod(name: string, script: string, more?: Partial<Container>): Promise<Pod>;
  start(args: readonly string[], options?: KubectlOptions): ChildProcessWithoutNullStreams;
  kubectl(args: readonly string[], options?: KubectlOptions & { readonly input?: Buffer | string }): Promise<Result>;
  /** Runs a line of a shell, which knows kubectl. */
  pipe(line: string): Promise<Result>;
};
type KubectlOptions = {
  /** Gives kubectl a terminal, of so many rows and columns. */
  readonly size?: `${number} ${number}`;
};

export async function streamNode(t: TestContext, { isDebian = false } = {}): Promise<StreamNode> {
  let kubelet: Kubelet;
  const usages = () => [{ node: 'n1', pods: kubelet.podUsages(readProcesses()) }];
  const hooks: Hooks = {
    logs: (pod, request) => kubelet.logs(pod as never, request as PodLogOptions),
    metrics: createMetrics(usages, systemClock),
  };
  const node = await testNode(t, { hooks });
  await chmod(node.dir, 0o711); // the users of containers pass through
  if (skipContainers() === false) await addBusybox(join(node.dir, 'images'));
  const startKubelet = () => node.start({ mayBecome: whoWeMayBecome(), podCidr: '127.244.0.0/16' });
  kubelet = startKubelet();
  const { pki, remove } = await temporaryPki();
  const { server } = node.server;
  const web = await listen({
    handle: (request, identity) => server.handle(request, identity),
    upgrade: (request, socket, head, identity) =>
      server.upgrade(
        { request, identity, socket },
        {
          toService: async () => {},
          toPod: (pod, asked) => kubelet.stream(pod as never, asked, { request, socket, head }),
        },
      ),
    pki,
    port: 0,
    log: silentLogger,
  });
  t.after(async () => {
    await web.close();
    await remove();
  });
  const kubeconfig = join(node.dir, 'kubeconfig');
  await writeKubeconfig(kubeconfig, { server: `https://127.0.0.1:${web.port}`, ca: pki.ca, ...pki.admin, name: 'test' });
  const programs = ensureKubectls();

  const cache = join(node.dir, isDebian ? 'cache-debian' : 'cache');
  const program = isDebian ? programs.debian : (process.env['KUBECTL'] ?? programs.current);
  const env = { PATH: process.env['PATH'], HOME: node.dir, KUBECONFIG: kubeconfig, SHELL: '/bin/sh' };
  const start: StreamNode['start'] = (args, { size } = {}) => {
    const words = [program, '--cache-dir', cache, ...args];
    const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
    const [first = '', ...rest] =
      size === undefined ? words : ['script', '-qec', `stty rows ${size.replace(' ', ' cols ')}; exec ${quoted}`, '/dev/null'];
    const child = spawn(first, rest, { env });
    child.stdin.on('error', () => {}); // it need not read what we say
    return child;
  };
  return {
    node,
    async restart() {
      await node.stop();
      kubelet = startKubelet();
      await kubelet.registered;
    },
    async logs(name) {
      const pod = await node.client.get(PODS, { namespace: 'default', name });
      return pod ? (await kubelet.logs(pod)).text() : '';
    },
    async pod(name, script, more = {}) {
      await node.run(name, { containers: [{ name: 'main', image: BUSYBOX_IMAGE, command: ['sh', '-c', script], ...more }] });
      return node.when(name, ({ status }) => status?.phase === 'Running');
    },
    start,
    kubectl: (args, options = {}) => resultOf(start(args, options), options.input),
    pipe: (line) => resultOf(spawn('sh', ['-c', `kubectl() { command '${program}' --cache-dir '${cache}' "$@"; }; ${line}`], { env })),
  };
}

function resultOf(child: ChildProcessWithoutNullStreams, input: Buffer | string = ''): Promise<Result> {
  const [stdout, stderr]: [Buffer[], Buffer[]] = [[], []];
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.end(input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') }));
  });
}
