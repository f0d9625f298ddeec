/** One node: a set of namespaces whose first process is node.sh. Ending that process ends the node with every Pod on it. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { systemClock } from '../../src/base/clock.ts';
import type { KeyPair } from '../../src/base/node/pki-files.ts';
import type { ProcessIdentity } from '../../src/base/node/process-identity.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { makeCgroups, plugIn, removeCgroups, unplug } from './host.ts';
import { copyImageStore } from './image-store.ts';
import { detachHeldBy } from './loops.ts';
import { nodeFiles } from './node-files.ts';
import type { NodePlan, Plan } from './plan.ts';
import { childrenOf, findPart, killProcesses, startPart } from './processes.ts';

export const NODE_PROGRAMS = ['containerd', 'kubelet', 'kube-proxy'] as const;
export type NodeProgram = (typeof NODE_PROGRAMS)[number];

const FIRST_PROCESS_PATIENCE_MS = 30_000;

export type NodeInput = {
  readonly folder: string;
  readonly plan: Plan;
  readonly node: NodePlan;
  readonly programs: string;
  readonly packages: string;
};

/** Writes everything that a node finds when it starts. */
export async function prepareNode(input: NodeInput, pki: Readonly<Record<string, KeyPair>>, imageStore: string): Promise<void> {
  const { folder, plan, node } = input;
  const own = join(folder, node.name);
  const etc = join(own, 'etc');
  for (const each of ['etc', 'lib', 'log']) mkdirSync(join(own, each), { recursive: true });
  for (const [name, content] of Object.entries(nodeFiles(plan, node))) {
    mkdirSync(dirname(join(etc, name)), { recursive: true });
    writeFileSync(join(etc, name), content, { mode: 0o600 });
  }
  const [server, client, proxy, ca] = [pki[`${node.name}-server`], pki[node.name], pki['kube-proxy'], pki['ca']];
  if (!server || !client || !proxy || !ca) throw new Error(`no certificates for ${node.name}`);
  writeFileSync(join(etc, 'ca.crt'), ca.cert);
  writeFileSync(join(etc, 'server.crt'), server.cert);
  writeFileSync(join(etc, 'server.key'), server.key, { mode: 0o600 });
  const cluster = { name: 'kubernetes', server: plan.server, ca: ca.cert };
  await writeKubeconfig(join(etc, 'kubelet.kubeconfig'), { ...cluster, ...client, user: node.name });
  await writeKubeconfig(join(etc, 'kube-proxy.kubeconfig'), { ...cluster, ...proxy, user: 'kube-proxy' });
  copyImageStore(imageStore, join(own, 'lib', 'containerd'));
}

/** Starts it and plugs in its network; whether it becomes Ready is the API server's to say. */
export async function startNode({ folder, plan, node, programs, packages }: NodeInput): Promise<void> {
  makeCgroups(plan, node);
  const own = join(folder, node.name);
  startPart({
    folder,
    part: node.name,
    program: 'unshare',
    args: [
      ...['--mount', '--pid', '--net', '--uts', '--ipc'],
      '--fork',
      '--mount-proc',
      '--kill-child',
      'bash',
      join(import.meta.dirname, 'node.sh'),
    ],
    logFile: join(own, 'log', 'node.log'),
    env: {
      NODE_NAME: node.name,
      NODE_ADDRESS: node.address,
      NODE_FOLDER: own,
      VOLUMES: join(folder, 'volumes'),
      PROGRAMS: programs,
      PACKAGES: packages,
    },
  });
  plugIn(plan, node, await firstProcess(folder, node));
}

/** As if the power went: every process of the node is gone, its disk stays. */
export async function crashNode(folder: string, plan: Plan, node: NodePlan): Promise<void> {
  const outer = findPart(folder, node.name, 'unshare');
  const inner = outer.flatMap(({ pid }) => childrenOf(pid));
  await killProcesses(outer);
  await untilGone(inner);
  unplug(node.link);
  detachHeldBy(join(folder, node.name));
  await removeCgroups(join(plan.cgroup, node.name)); // what is left would cost the next kubelet seconds for every old container
}

/** Runs a command inside the node, as a login there would. */
export async function execInNode(folder: string, node: NodePlan, command: readonly string[]): Promise<string> {
  const pid = await firstProcess(folder, node);
  const [program = 'true', ...args] = command;
  const { status, stdout, stderr } = spawnSync('nsenter', ['-t', String(pid), '-m', '-p', '-n', '-u', '-i', program, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`${command.join(' ')} on ${node.name} ended with ${status}: ${stderr || stdout}`);
  return stdout;
}

/** Kills one program; the node starts it again at once, unless it was told to leave it. */
export async function killProgram(folder: string, node: NodePlan, program: NodeProgram): Promise<void> {
  await killProcesses(findPart(folder, `${node.name}/${program}`, program));
}

/** Keeps a program from running until it is let. */
export async function holdProgram(folder: string, node: NodePlan, program: NodeProgram): Promise<void> {
  writeFileSync(join(folder, node.name, 'etc', `stopped-${program}`), '');
  await killProgram(folder, node, program);
}

export function letProgramRun(folder: string, node: NodePlan, program: NodeProgram): void {
  rmSync(join(folder, node.name, 'etc', `stopped-${program}`), { force: true });
}

export function programOf(folder: string, node: NodePlan, program: NodeProgram): ProcessIdentity | undefined {
  return findPart(folder, `${node.name}/${program}`, program)[0];
}

async function firstProcess(folder: string, node: NodePlan): Promise<number> {
  const deadline = systemClock.now() + FIRST_PROCESS_PATIENCE_MS;
  for (;;) {
    const [outer] = findPart(folder, node.name, 'unshare');
    const [inner] = outer ? childrenOf(outer.pid) : [];
    if (inner !== undefined) return inner;
    if (systemClock.now() > deadline) throw new Error(`${node.name} does not run; see ${join(folder, node.name, 'log', 'node.log')}`);
    await systemClock.sleep(10);
  }
}

async function untilGone(pids: readonly number[]): Promise<void> {
  const deadline = systemClock.now() + FIRST_PROCESS_PATIENCE_MS;
  while (pids.some((pid) => existsSync(`/proc/${pid}/exe`) && systemClock.now() < deadline)) await systemClock.sleep(10);
}
