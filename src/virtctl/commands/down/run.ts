/** Shuts the guests down and stops the embedded cluster; with --purge nothing of it stays. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../../base/clock.ts';
import { isApiError, messageOf, UserError } from '../../../base/errors.ts';
import { removeCgroupsOf } from '../../../base/node/container-cgroups.ts';
import { livingPods, nameOfPod } from '../../../base/node/living-pods.ts';
import { killProcess } from '../../../base/node/process-identity.ts';
import { kubeconfigPath } from '../../../client/node/find-kubeconfig.ts';
import { canAsk, confirm } from '../../confirm.ts';
import type { Deps } from '../../deps.ts';
import { apiUnreachable } from '../../embedded/api-unreachable.ts';
import { launchEmbedded, whileNobodyElseStarts } from '../../embedded/launch.ts';
import { describeLost } from '../../embedded/lost-by-purge.ts';
import { closeNetwork } from '../../embedded/network-namespace.ts';
import { drain } from '../../embedded/node.ts';
import { startLockPath } from '../../embedded/paths.ts';
import { noLongerAtBoot, thisBootHost } from '../../embedded/start-at-boot.ts';
import { type EmbeddedState, guestsOf, lastState, runningState } from '../../embedded/state.ts';
import { stopProcess } from '../../embedded/stop-process.ts';
import { removeWithUsers } from '../../embedded/subordinate-users.ts';
import { endSupervisor } from '../../embedded/supervisor.ts';
import { shutDownGuests, unknownGuests } from '../../embedded/unknown-guests.ts';
import { takeFromKubeconfigs } from '../../embedded/user-kubeconfig.ts';
import { createProgress, type Progress } from '../../progress.ts';

/** A grace period is a number that anybody may write; guests without a cluster are not waited for longer. */
const MOST_GRACE_SECONDS = 600;

export async function run(deps: Deps, flags: { purge: boolean; cache: boolean; yes: boolean }): Promise<void> {
  if (flags.cache && !flags.purge)
    throw new UserError('USAGE', '--cache goes with --purge', { fix: 'virtctl down --purge --cache', exitCode: 2 });
  // Before anything is stopped: whoever says no has lost nothing, not even time.
  if (flags.purge && !flags.yes && canAsk(deps) && existsSync(deps.home)) await mustBeMeant(deps);
  const { home, clock, stdout } = deps;
  const progress = createProgress(stdout, clock);
  // A cluster that is gone may have left guests running: only a running one can ask them to shut down.
  const isLeft = lastState(home) !== undefined || guestsOf(home).length > 0;
  // What goes with all its data needs no cluster around it: one that an object ends again and again could not be removed.
  const state = runningState(home) ?? (isLeft && !flags.purge ? await launchOrShutDown(deps, progress) : undefined);
  if (state) {
    await progress.step('guests', async (step) => {
      const onWaiting = (names: readonly string[]) => step.update(`waiting for ${names.join(', ')}`);
      const count = await endGuests({ deps, state, isPurge: flags.purge, onWaiting });
      const strangers = unknownGuests(home);
      if (strangers.length > 0) onWaiting(strangers.map(nameOfPod));
      await shutDownGuests(strangers, { clock });
      return count + strangers.length === 0 ? 'none was running' : `${count + strangers.length} shut down`;
    });
    await progress.step('control', (step) =>
      whileNobodyElseStarts({ home }, async () => {
        await stopProcess(state.process, clock);
        await endSupervisor(home, clock); // between two processes of a cluster that ends again and again
        // Containers other than guests, such as vmctl: as when a node is switched off, they start again with the next `up`.
        await endContainers(flags, { home, clock, onWaiting: (names) => step.update(`waiting for ${names.join(', ')}`) });
        closeNetwork(home);
        return 'stopped';
      }),
    );
  } else {
    if (flags.purge && isLeft) await progress.step('guests', (step) => endWhatIsLeft(deps, step.update));
    if (existsSync(dirname(startLockPath(home)))) await putNetworkAway(home);
    if (!flags.purge) stdout.write('nothing to stop: no embedded cluster runs here\n');
  }
  if (!flags.purge) return;
  const unit = noLongerAtBoot(deps, thisBootHost(deps));
  if (unit !== undefined) await progress.step('boot', async () => unit);
  await progress.step('data', async () => purge(home));
  await progress.step('cache', async () =>
    flags.cache || !existsSync(deps.cache)
      ? purge(deps.cache)
      : `${deps.cache} stays for the next cluster; --purge --cache removes it, too`,
  );
  const context = takeFromKubeconfigs(deps.env, home);
  if (context !== undefined) await progress.step('kubectl', async () => context);
}

async function mustBeMeant(deps: Deps): Promise<void> {
  deps.stderr.write(await describeLost(deps));
  if (await confirm(deps, 'Remove all of this?')) return;
  throw new UserError('NOT_CONFIRMED', 'nothing was stopped and nothing was removed', {
    fix: 'virtctl down stops the cluster and keeps its data; virtctl down --purge --yes does not ask',
  });
}

/** Undefined when it cannot be started: guests do not depend on that, they are asked directly. */
async function launchOrShutDown(deps: Deps, progress: Progress): Promise<EmbeddedState | undefined> {
  try {
    return (await launchEmbedded(deps, { port: 6443, nodes: 1, adopt: true })).state;
  } catch (error) {
    const guests = livingPods(deps.home);
    if (guests.length === 0) throw error;
    await progress.step('guests', async (step) => {
      step.update(`waiting for ${guests.map(nameOfPod).join(', ')}`);
      await shutDownGuests(guests, deps);
      return `${guests.length} shut down, without the cluster: ${messageOf(error)}`;
    });
    return undefined;
  }
}

type Guests = {
  readonly deps: Deps;
  readonly state: EmbeddedState;
  readonly isPurge: boolean;
  readonly onWaiting: (names: readonly string[]) => void;
};

/** By the cluster, which knows who is who; directly where it serves the API alone, or ends while it is asked and all its data goes. */
async function endGuests({ deps, state, isPurge, onWaiting }: Guests): Promise<number> {
  if (state.isWithoutControllers) return shutDownAll(deps, onWaiting);
  const { client } = await deps.connect({ kubeconfig: kubeconfigPath(deps.home) });
  return drain(client, { clock: deps.clock, onWaiting }).catch((error) => {
    if (!isApiError(error, 'ServiceUnavailable')) throw error;
    if (isPurge) return shutDownAll(deps, onWaiting);
    throw apiUnreachable(state.process, { next: 'virtctl down again, which shuts them down', cause: error });
  });
}

async function shutDownAll({ home, clock }: Deps, onWaiting: Guests['onWaiting']): Promise<number> {
  const pods = livingPods(home);
  if (pods.length > 0) onWaiting(pods.map(nameOfPod));
  await shutDownGuests(pods, { clock, mostSeconds: MOST_GRACE_SECONDS });
  return pods.length;
}

/** Of a cluster that does not run, and would not start. */
function endWhatIsLeft(deps: Deps, update: (text: string) => void): Promise<string> {
  const { home, clock } = deps;
  return whileNobodyElseStarts({ home }, async () => {
    await endSupervisor(home, clock);
    const count = await shutDownAll(deps, (names) => update(`waiting for ${names.join(', ')}`));
    await removeCgroupsOf(home, clock);
    return count === 0 ? 'none was running' : `${count} shut down, without the cluster`;
  });
}

/** A cluster that was ended by hand leaves its namespace, for guests that it may have. */
function putNetworkAway(home: string): Promise<void> {
  return whileNobodyElseStarts({ home }, async () => {
    if (!runningState(home) && guestsOf(home).length === 0) closeNetwork(home);
  });
}

type Ending = { readonly home: string; readonly clock: Clock; readonly onWaiting: (names: readonly string[]) => void };

/** They have their grace periods, unless all that they could still write goes anyway. */
async function endContainers({ purge }: { readonly purge: boolean }, { home, clock, onWaiting }: Ending): Promise<void> {
  const pods = livingPods(home);
  if (pods.length > 0) onWaiting(pods.map(nameOfPod));
  if (purge) for (const container of guestsOf(home)) killProcess(container);
  else await shutDownGuests(pods, { clock });
  await removeCgroupsOf(home, clock);
}

function purge(home: string): string {
  if (!existsSync(home)) return `${home} was not there`;
  if (!isMountPoint(home)) {
    removeWithUsers(home);
    return `${home} removed`;
  }
  for (const name of readdirSync(home)) removeWithUsers(join(home, name));
  return `${home} emptied; a disk is mounted there, which stays`;
}

function isMountPoint(folder: string): boolean {
  return statSync(folder).dev !== statSync(dirname(folder)).dev;
}
