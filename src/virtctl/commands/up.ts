/** Starts the embedded cluster, a line per step; with --demo also a first virtual machine. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { join, relative } from 'node:path';
import { parse } from 'yaml';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { chooseAcceleration } from '../../qemu/accelerator.ts';
import { findQemu } from '../../qemu/find-qemu.ts';
import { connect } from '../connect.ts';
import type { Context } from '../context.ts';
import { watchBoot } from '../embedded/boot.ts';
import { LAST_PORT } from '../embedded/claim-port.ts';
import { importGuestImages } from '../embedded/guest-images.ts';
import { launchEmbedded } from '../embedded/launch.ts';
import type { Network } from '../embedded/network-namespace.ts';
import { allowScheduling } from '../embedded/node.ts';
import { kubeconfigPath } from '../embedded/paths.ts';
import { runningState } from '../embedded/state.ts';
import { createProgress } from '../progress.ts';

/** They are loops of one process; more than this is for a benchmark, not for this machine. */
const MOST_NODES = 100;
const INTERRUPTED = 130;

export async function up(this: Context, flags: { demo: boolean; port: number; nodes?: number }): Promise<void> {
  const progress = createProgress(this.process.stdout, systemClock.now);
  const started = systemClock.now();
  const nodes = nodesFrom(flags.nodes);
  requirePort(flags.port);
  const interrupted = new AbortController();
  const interrupt = () => interrupted.abort(); // a second Ctrl+C ends this program at once
  this.process.once('SIGINT', interrupt);

  await progress.step('host', async () => {
    const acceleration = chooseAcceleration(this.process.env);
    const size = `${platform()} ${arch()}, ${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`;
    return `${size}, ${acceleration.accel === 'kvm' ? 'KVM' : `software emulation, slow (${acceleration.why})`}`;
  });
  await progress.step('qemu', async () => {
    const path = findQemu(this.process.env);
    return `${qemuVersion(path)} (${path})`;
  });
  await progress.step('control', async () => {
    const running = runningState(this.home);
    const { state, network } = running
      ? { state: running, network: undefined }
      : await launchEmbedded(this, { port: flags.port, nodes, signal: interrupted.signal });
    const busy = !running && state.port !== flags.port ? ` (port ${flags.port} is busy)` : '';
    return `https://127.0.0.1:${state.port}${busy}, data in ${this.home}${running ? ', was running' : ''}${whatIsLost(network)}`;
  });
  if (interrupted.signal.aborted) leave(this);
  this.process.off('SIGINT', interrupt);
  this.process.once('SIGINT', () => leave(this));
  const { client, cluster } = connect(this, { kubeconfig: kubeconfigPath(this.home) });
  await progress.step('nodes', async () => {
    const names = await allowScheduling(client);
    if (names.length === nodes || flags.nodes === undefined) return names.join(', ');
    const fix = names.length < nodes ? 'virtctl down, then up again, for more' : 'virtctl down --purge to begin with fewer';
    return `${names.join(', ')}; ${nodes} asked for: ${fix}`;
  });
  await progress.step('image', () => importGuestImages(this));
  if (flags.demo) await progress.step('vm', (step) => watchBoot({ client, cluster, vm: demoMachine(this), onLine: step.update }));

  this.process.stdout.write(whatNext(this, flags.demo, systemClock.now() - started));
}

function requirePort(port: number): void {
  if (Number.isInteger(port) && port > 0 && port <= LAST_PORT) return;
  throw new UserError('USAGE', `--port ${port} is not a port`, { fix: `say a number from 1 to ${LAST_PORT}`, exitCode: 2 });
}

/** What is left to do once the cluster serves can be done by the next `up`. */
function leave({ process }: Context): never {
  process.stderr.write('\nThe cluster runs. virtctl up does what is left, virtctl down stops it.\n');
  return process.exit(INTERRUPTED);
}

/** All of them are this machine, and each takes its share of it. */
function nodesFrom(wanted = 1): number {
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST_NODES) return wanted;
  throw new UserError('NODES_INVALID', `--nodes is a number from 1 to ${MOST_NODES}, found ${wanted}`, { exitCode: 2 });
}

/** What does not work without a network of the cluster's own, and why there is none. */
function whatIsLost(network: Network | undefined): string {
  if (network?.mode !== 'host') return '';
  return `; on the host's network (${network.why}): Services have no addresses inside and guests do not reach each other`;
}

function qemuVersion(path: string): string {
  const said = execFileSync(path, ['--version'], { encoding: 'utf8' });
  return /version (\S+)/.exec(said)?.[1] ?? said.trim();
}

function demoMachine(context: Context): VirtualMachine {
  const vm = parse(readFileSync(join(context.examples, 'vm.yaml'), 'utf8')) as VirtualMachine;
  return { ...vm, metadata: { ...vm.metadata, namespace: 'default' } };
}

function whatNext(context: Context, hasDemo: boolean, elapsedMs: number): string {
  const virtctl = asTyped(context);
  const commands: [string, string][] = [
    [`export KUBECONFIG=$(${virtctl} kubeconfig)`, `${kubeconfigPath(context.home)}`],
    hasDemo
      ? [`${virtctl} console hello`, 'root, password guest; Ctrl+] leaves']
      : ['kubectl apply -f examples/vm.yaml', 'a first machine'],
    ['kubectl get vms', 'everything is plain KubeVirt API'],
    [`${virtctl} down`, 'shuts the guests down and stops the cluster'],
  ];
  const lines = commands.map(([command, comment]) => `    ${command.padEnd(48)} # ${comment}`);
  return `  ready in ${(elapsedMs / 1000).toFixed(1)}s\n\n  next:\n${lines.join('\n')}\n`;
}

/** How to call this program from where the user is: by its name when that works, otherwise by its path. */
function asTyped({ process: { env, cwd }, program }: Context): string {
  const isOnPath = (env['PATH'] ?? '').split(':').some((folder) => folder !== '' && join(folder, 'virtctl') === program);
  if (isOnPath) return 'virtctl';
  const path = relative(cwd(), program);
  return path.startsWith('..') ? program : `./${path}`;
}
