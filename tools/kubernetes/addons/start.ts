/** Starts the addons of a cluster: its names and its volumes, served by one process on the machine itself. */
import { Resolver } from 'node:dns/promises';
import { join } from 'node:path';
import { isApiError } from '../../../src/base/errors.ts';
import type { Client } from '../../../src/client/client.ts';
import type { Plan } from '../plan.ts';
import { startPart } from '../processes.ts';
import { until } from '../until.ts';
import { addonObjects } from './objects.ts';

/** Resolves when names are served. */
export async function startAddons(
  { folder, plan, client }: { folder: string; plan: Plan; client: Client },
  signal?: AbortSignal,
): Promise<void> {
  for (const [path, object] of addonObjects(plan)) {
    const post = () =>
      client.request(path, { method: 'POST', body: JSON.stringify(object), headers: { 'content-type': 'application/json' } });
    // A kind is not served at once when its definition is there.
    await until(
      `${path} is taken`,
      () =>
        post().then(
          () => true,
          (error) => (isApiError(error, 'NotFound') ? false : Promise.reject(error)),
        ),
      signal,
    );
  }
  startPart({
    folder,
    part: 'addons',
    program: process.execPath,
    args: [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'run.ts'),
      folder,
      plan.hostAddress,
      ...plan.nodes.map(({ name }) => name),
    ],
    logFile: join(folder, 'log', 'addons.log'),
  });
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([plan.hostAddress]);
  await until(
    'names are served',
    () =>
      resolver.resolve4('kubernetes.default.svc.cluster.local').then(
        ([address]) => address === plan.kubernetesServiceAddress,
        () => false,
      ),
    signal,
  );
}
