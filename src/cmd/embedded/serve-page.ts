/** The web page of the embedded cluster, with the rights of its administrator: for whoever can read the data folder, and for nobody else. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { HostCheck } from '../../api/page/host-checks.ts';
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../base/log.ts';
import { cacheFolder } from '../../base/node/folders.ts';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { loadKubeconfig } from '../../client/node/kubeconfig.ts';
import { type PageFiles, readPageFiles } from '../../ui-server/page-files.ts';
import { startUiServer, type UiServer } from '../../ui-server/start.ts';
import type { ConnectionFlags } from '../../virtctl/deps.ts';
import { pageKeyPath } from '../../virtctl/embedded/paths.ts';
import { PLACES } from '../places.ts';
import { VERSION } from '../version.ts';
import { keptKey, newKey } from './kept-key.ts';

export type PageOptions = {
  readonly home: string;
  readonly pagePort?: number;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Undefined where it cannot be served: a cluster is one without its page, too. */
export async function servePage({ home, pagePort, clock, log }: PageOptions): Promise<UiServer | undefined> {
  if (pagePort === undefined || !existsSync(PLACES.page)) return undefined;
  const link = newKey();
  writeFileSync(pageKeyPath(home), link, { mode: 0o600 });
  const cluster = async () => loadKubeconfig(kubeconfigPath(home));
  let files: PageFiles | undefined;
  try {
    return await startUiServer({
      cluster: await cluster(),
      reload: cluster,
      version: VERSION,
      namespace: 'default',
      files: () => {
        files ??= readPageFiles(PLACES.page); // read by the first browser: most clusters see none
        return files;
      },
      port: pagePort,
      keys: { link, session: keptKey(join(home, 'pki', 'page-sessions.key')) },
      lookAtHost: () => lookFromWithin(home, clock),
      clock,
      log: log.with({ component: 'page' }),
    });
  } catch (error) {
    log.warn('the web page is not served', { error });
    return undefined;
  }
}

/** Loaded by the first who asks: most clusters are never asked. */
async function lookFromWithin(home: string, clock: Clock): Promise<readonly HostCheck[]> {
  const { lookAtHost } = await import('../../virtctl/doctor/look-at-host.ts');
  const { connect } = await import('../../virtctl/connect.ts');
  const { env, stderr } = process;
  const caller = { home, version: VERSION, env, stderr };
  const deps = {
    home,
    cache: cacheFolder(),
    env,
    clock,
    guests: PLACES.guests,
    connect: async (flags: ConnectionFlags) => connect(caller, flags),
  };
  return lookAtHost(deps, 'within');
}
