/** Starts the embedded cluster, a line per step; with --demo also a first virtual machine. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { arch, cpus, platform, totalmem } from 'node:os';
import { relative } from 'node:path';
import { UserError } from '../../../base/errors.ts';
import { findProgram } from '../../../base/node/find-program.ts';
import { nameOfPod } from '../../../base/node/living-pods.ts';
import { isNewerRelease } from '../../../base/release-version.ts';
import { kubeconfigPath } from '../../../client/node/find-kubeconfig.ts';
import { chooseAcceleration } from '../../../qemu/accelerator.ts';
import { findQemu } from '../../../qemu/find-qemu.ts';
import { linkTo } from '../../../ui-server/sessions.ts';
import type { Deps } from '../../deps.ts';
import { applyAll, parseManifests } from '../../embedded/apply-file.ts';
import { watchBoot } from '../../embedded/boot.ts';
import { LAST_PORT } from '../../embedded/claim-port.ts';
import { demoMachine } from '../../embedded/demo-machine.ts';
import { importGuestImages } from '../../embedded/guest-images.ts';
import { hasDefaultRoute } from '../../embedded/has-default-route.ts';
import { NO_WAY_OUT } from '../../embedded/host-routes.ts';
import { launchEmbedded } from '../../embedded/launch.ts';
import type { Network } from '../../embedded/network-namespace.ts';
import { allowScheduling } from '../../embedded/node.ts';
import { pageKeyPath } from '../../embedded/paths.ts';
import { noLongerAtBoot, startAtBoot, thisBootHost } from '../../embedded/start-at-boot.ts';
import type { EmbeddedState } from '../../embedded/state.ts';
import { unknownGuests } from '../../embedded/unknown-guests.ts';
import { mergeInto, userKubeconfig } from '../../embedded/user-kubeconfig.ts';
import { createProgress, type Progress } from '../../progress.ts';
import { readInput } from '../../read-input.ts';

/** They are loops of one process; more than this is for a benchmark, not for this machine. */
const MOST_NODES = 100;
const INTERRUPTED = 130;
const DEFAULT_PORT = 6443;
const NEXT_WIDTH = 44;
const WIDE = 200;

export async function run(
  deps: Deps,
  flags: {
    demo: boolean;
    port?: number;
    nodes?: number;
    adopt: boolean;
    hostNetwork: boolean;
    merge: boolean;
    boot?: boolean;
    withoutControllers?: boolean;
    file?: string;
  },
): Promise<void> {
  const { clock, env, home, stdout } = deps;
  const progress = createProgress(stdout, clock);
  const started = clock.now();
  const nodes = nodesFrom(flags.nodes);
  const port = portFrom(flags.port);
  if (flags.withoutControllers && (flags.demo || flags.file !== undefined)) throw nothingStarts();
  const manifests = flags.file === undefined ? [] : parseManifests(flags.file, String(readInput(flags.file)));
  const interrupted = new AbortController();
  const stopListening = deps.onSignal('SIGINT', () => {
    stopListening(); // a second Ctrl+C ends this program at once
    interrupted.abort();
  });

  await progress.step('host', async () => {
    const acceleration = chooseAcceleration(env);
    const size = `${platform()} ${arch()}, ${cpus().length} CPU, ${Math.round(totalmem() / 2 ** 30)} GiB`;
    const slow = acceleration.accel === 'kvm' ? [] : [`software emulation, slow (${acceleration.why})`];
    const lacks = hasDefaultRoute() ? slow : [...slow, NO_WAY_OUT];
    return lacks.length === 0 ? `${size}, KVM` : { warning: [size, ...lacks].join(', ') };
  });
  await progress.step('qemu', async () => {
    const path = findQemu(env);
    return `${qemuVersion(path)} (${path})`;
  });
  let state: EmbeddedState | undefined;
  await progress.step('control', async (step) => {
    const { network, ...launched } = await launchEmbedded(deps, {
      port,
      nodes,
      adopt: flags.adopt,
      isHostNetwork: flags.hostNetwork,
      isWithoutControllers: flags.withoutControllers === true,
      onWaiting: () => step.update('somebody else is starting it'),
      signal: interrupted.signal,
    });
    state = launched.state;
    const where = `https://127.0.0.1:${state.port}${network ? busy(port, state.port) : ignored(flags.port, state.port)}`;
    const text = `${where}, data in ${home}${network ? '' : `, was running${otherRelease(state, deps)}`}`;
    const lost = whatIsLost(network, state);
    return lost === undefined ? text : { warning: `${text}; ${lost}` };
  });
  if (interrupted.signal.aborted) leave(deps);
  stopListening();
  deps.onSignal('SIGINT', () => leave(deps));
  if (flags.withoutControllers) {
    stdout.write(apiAlone(deps));
    return;
  }
  const { client, openConsole } = await deps.connect({ kubeconfig: kubeconfigPath(home) });
  await progress.step('nodes', async () => {
    const names = await allowScheduling(client);
    if (names.length === nodes || flags.nodes === undefined) return names.join(', ');
    const fix = names.length < nodes ? 'virtctl down, then up again, for more' : 'virtctl down --purge to begin with fewer';
    return { warning: `${names.join(', ')}; ${nodes} asked for: ${fix}` };
  });
  const strangers = unknownGuests(home);
  if (strangers.length > 0)
    await progress.step('guests', async () => ({ warning: `${strangers.map(nameOfPod).join(', ')} run outside of the cluster` }));
  await progress.step('image', (step) => importGuestImages(deps, step.update));
  if (flags.merge) await progress.step('kubectl', async () => mergeInto(userKubeconfig(env), home));
  const cronLine = flags.boot === undefined ? undefined : await atBoot(deps, progress, flags.boot);
  if (manifests.length > 0) await progress.step('apply', () => applyAll(client, manifests));
  if (flags.demo)
    await progress.step('vm', async (step) => watchBoot({ client, openConsole, vm: await demoMachine(deps), onLine: step.update }));

  stdout.write(whatNext(deps, flags.demo, clock.now() - started));
  if (cronLine !== undefined) stdout.write(`\n  to start it at boot, add this line with crontab -e:\n${cronLine}\n`);
  const page = pageLink(deps, state);
  if (page !== undefined) stdout.write(`\n  in a browser, once and within ten minutes:\n    ${page}\n`);
}

/** The web page that the cluster serves; one that an earlier version started has none, and one that is starting again has no key yet. */
function pageLink({ home, clock }: Deps, state: EmbeddedState | undefined): string | undefined {
  if (state?.pagePort === undefined || !existsSync(pageKeyPath(home))) return undefined;
  return linkTo(state.pagePort, readFileSync(pageKeyPath(home), 'utf8'), clock);
}

/** The line for cron where systemd does not run: not in the step, which is broken for the terminal. */
async function atBoot(deps: Deps, progress: Progress, isWanted: boolean): Promise<string | undefined> {
  const host = thisBootHost(deps);
  const lines: string[] = [];
  await progress.step('boot', async () => {
    if (!isWanted) return noLongerAtBoot(deps, host) ?? 'did not start with the machine';
    const started = startAtBoot({ ...deps, node: process.execPath }, host);
    if (typeof started === 'object') lines.push(started.cronLine);
    return started;
  });
  return lines[0];
}

function portFrom(port = DEFAULT_PORT): number {
  if (Number.isInteger(port) && port > 0 && port <= LAST_PORT) return port;
  throw new UserError('USAGE', `--port ${port} is an invalid port`, { fix: `say a number from 1 to ${LAST_PORT}`, exitCode: 2 });
}

function busy(wanted: number, taken: number): string {
  return wanted === taken ? '' : ` (port ${wanted} is busy)`;
}

/** A cluster that runs keeps its port. */
function ignored(wanted: number | undefined, taken: number): string {
  return wanted === undefined || wanted === taken ? '' : ` (not ${wanted}: virtctl down, then up again, for another port)`;
}

/** It goes on with the release that started it. */
function otherRelease({ version: runs }: EmbeddedState, { version }: Deps): string {
  return isNewerRelease(version, runs) ? ` with release ${runs} (virtctl upgrade: ${version}, guests keep running)` : '';
}

/** What is left to do once the cluster serves can be done by the next `up`. */
function leave({ stderr, exit }: Deps): never {
  stderr.write('\nThe cluster runs. virtctl up does what is left, virtctl down stops it.\n');
  return exit(INTERRUPTED);
}

/** All of them are this machine, and each takes its share of it. */
function nodesFrom(wanted = 1): number {
  if (Number.isInteger(wanted) && wanted >= 1 && wanted <= MOST_NODES) return wanted;
  throw new UserError('NODES_INVALID', `--nodes is a number from 1 to ${MOST_NODES}, found ${wanted}`, {
    fix: '--nodes 3, for instance; all of them share this machine',
    exitCode: 2,
  });
}

/** What does not work without a network of the cluster's own, and why there is none; undefined when nothing is lost. */
function whatIsLost(network: Network | undefined, state: EmbeddedState): string | undefined {
  const isOnHost = (network?.mode ?? state.network) === 'host';
  if (!isOnHost) return network?.why;
  const why = network?.why ? ` (${network.why})` : '';
  return `on the host's network${why}: Services have no addresses inside, guests have no way out and do not reach each other`;
}

function qemuVersion(path: string): string {
  const said = execFileSync(path, ['--version'], { encoding: 'utf8' });
  return /version (\S+)/.exec(said)?.[1] ?? said.trim();
}

function whatNext(deps: Deps, hasDemo: boolean, elapsedMs: number): string {
  const virtctl = asTyped(deps);
  const commands: [string, string][] = [
    [`export KUBECONFIG=$(${virtctl} kubeconfig)`, 'for kubectl'],
    hasDemo
      ? [`${virtctl} shell hello`, 'as root; virtctl console hello is its serial console']
      : [`${virtctl} run tiny`, 'a first machine, and its console'],
    [`${virtctl} ui`, 'the same in a browser'],
    ['kubectl get vms', 'everything is plain KubeVirt API'],
    [`${virtctl} down`, 'shuts the guests down and stops the cluster'],
  ];
  const width = deps.stdout.isTTY ? deps.stdout.columns || WIDE : WIDE;
  const shown = (command: string, comment: string) => `    ${command.padEnd(NEXT_WIDTH)} # ${comment}`;
  // A comment that does not fit is left out: the command is what is copied.
  const lines = commands.map(([command, comment]) =>
    shown(command, comment).length <= width ? shown(command, comment) : `    ${command}`,
  );
  return `  ready in ${(elapsedMs / 1000).toFixed(1)}s\n\n  next:\n${lines.join('\n')}\n`;
}

function nothingStarts(): UserError {
  return new UserError('USAGE', '--without-controllers starts nothing, so it goes neither with --demo nor with -f', {
    fix: 'virtctl up without it',
    exitCode: 2,
  });
}

/** Nothing of the rest of `up` can be done without controllers. */
function apiAlone(deps: Deps): string {
  const virtctl = asTyped(deps);
  return `  the API alone: nothing is started, scheduled or shut down; guests keep running

  next:
    kubectl get statefulsets,deployments,jobs,vms -A    # find what ends the cluster, and delete it
    ${virtctl} up                                       # the whole cluster again
`;
}

/** How to call this program from where the user is: by its name when that works, otherwise by its path. */
function asTyped({ env, workingFolder, program }: Deps): string {
  const onPath = findProgram('virtctl', env['PATH']);
  if (onPath !== undefined && realpathSync(onPath) === realpathSync(program)) return 'virtctl';
  const path = relative(workingFolder, program);
  return path.startsWith('..') ? program : `./${path}`;
}
