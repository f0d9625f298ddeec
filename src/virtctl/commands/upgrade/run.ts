/** Gives the embedded cluster to this release: a backup, then another process on the same data. Guests run on, as when the process is killed. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { NODES } from '../../../api/core/node.ts';
import type { Clock } from '../../../base/clock.ts';
import { UserError } from '../../../base/errors.ts';
import { mustNotBeNewer, releaseOfData } from '../../../base/node/data-release.ts';
import { livingPods, nameOfPod } from '../../../base/node/living-pods.ts';
import { isSameProcess } from '../../../base/node/process-identity.ts';
import { kubeconfigPath } from '../../../client/node/find-kubeconfig.ts';
import type { Deps } from '../../deps.ts';
import { launchEmbedded, whileNobodyElseStarts } from '../../embedded/launch.ts';
import { type EmbeddedState, lastState, runningState } from '../../embedded/state.ts';
import { stopProcess } from '../../embedded/stop-process.ts';
import { storePath } from '../../embedded/store-file.ts';
import { writeBackup } from '../../embedded/write-backup.ts';
import { createProgress } from '../../progress.ts';

const DEFAULT_PORT = 6443;

export async function run(deps: Deps): Promise<void> {
  const { home, version, clock, stdout } = deps;
  if (!existsSync(storePath(home)))
    throw new UserError('NO_CLUSTER', `there is no embedded cluster at ${home}`, { fix: 'virtctl up starts one', exitCode: 3 });
  const before = runningState(home);
  const used = before?.version ?? releaseOfData(home);
  // Before anything is stopped: whoever is refused has lost nothing.
  mustNotBeNewer(used, { home, version });
  const progress = createProgress(stdout, clock);
  const guests = livingPods(home);
  const nodes = before ? await nodeCount(deps) : 1;
  const backup = backupPath(home, { used, clock });
  await writeBackup(deps, backup, progress);
  if (before)
    await progress.step('stop', () =>
      whileNobodyElseStarts({ home }, async () => {
        await stopProcess(before.process, clock);
        return `${before.version} ended; running on without it: ${guests.map(nameOfPod).join(', ') || 'no guest'}`;
      }),
    );
  let now = version;
  await progress.step('start', async () => {
    const state = await launchAgain(deps, { before: before ?? lastState(home), nodes, backup });
    now = state.version;
    return `${state.version} serves at https://127.0.0.1:${state.port}`;
  });
  const lost = guests.filter(({ containers }) => !containers.every(({ process }) => isSameProcess(process))).length;
  const change = used === undefined || used === now ? `${now}, as before` : `${used} is now ${now}`;
  const kept = guests.length - lost;
  stdout.write(`\n  ${change}; ${kept} ${kept === 1 ? 'guest' : 'guests'} kept running${lost > 0 ? `, ${lost} ended meanwhile` : ''}\n`);
  stdout.write(`  the objects as they were: ${backup}\n`);
}

async function nodeCount({ home, connect }: Deps): Promise<number> {
  const { client } = await connect({ kubeconfig: kubeconfigPath(home) });
  return Math.max((await client.list(NODES)).items.length, 1);
}

/** Beside the hourly ones, which make room for each other: this one stays. */
function backupPath(home: string, { used, clock }: { readonly used: string | undefined; readonly clock: Clock }): string {
  const folder = join(home, 'backups');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const release = (used ?? 'unknown').replaceAll(/[^0-9A-Za-z.-]/g, '_').slice(0, 64);
  return join(folder, `before-upgrade-of-${release}-${new Date(clock.now()).toISOString().replaceAll(':', '-')}.db`);
}

type Before = { readonly before: EmbeddedState | undefined; readonly nodes: number; readonly backup: string };

/** As it was started before. There is no way back to another release from here, so whoever cannot go on is told where the objects are. */
async function launchAgain(deps: Deps, { before, nodes, backup }: Before): Promise<EmbeddedState> {
  try {
    const { state } = await launchEmbedded(deps, {
      port: before?.port ?? DEFAULT_PORT,
      nodes,
      isHostNetwork: before?.network === 'host',
    });
    return state;
  } catch (error) {
    deps.stderr.write(`the objects as they were are in ${backup}; guests run on, and the release of before still runs them: virtctl up\n`);
    throw error;
  }
}
