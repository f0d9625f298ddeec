/** Serves the web page for the cluster of the kubeconfig until it is ended. */
import { randomBytes } from 'node:crypto';
import { silentLogger } from '../../../base/log.ts';
import { readPageFiles } from '../../../ui-server/page-files.ts';
import { startUiServer } from '../../../ui-server/start.ts';
import type { ConnectionFlags, Deps } from '../../deps.ts';
import { isClusterOfHome, lookAtHost } from '../../doctor/look-at-host.ts';
import { openBrowser, parsePort, untilEnded } from '../../local-page.ts';

export type UiFlags = ConnectionFlags & { readonly port?: number; readonly open: boolean };

export async function run(deps: Deps, flags: UiFlags): Promise<void> {
  const { stdin, stdout, stderr, clock, version } = deps;
  const port = parsePort(flags.port ?? 0);
  const { client, cluster, namespace } = await deps.connect(flags);
  await (await client.request('/version')).body?.cancel(); // better said here than in a browser
  const files = readPageFiles(deps.page);
  const server = await startUiServer({
    cluster,
    reload: async () => (await deps.connect(flags)).cluster,
    version,
    namespace,
    files: () => files,
    port,
    keys: { link: newKey(), session: newKey() },
    ...(isClusterOfHome(cluster, deps.home) && { lookAtHost: () => lookAtHost(deps, 'outside') }),
    clock,
    log: silentLogger,
  });
  const show = () => stdout.write(`${server.link()}\n`);
  if (flags.open) openBrowser(server.link(), deps.env);
  stderr.write(
    `The web page of ${cluster.context}. Each address lets one browser in${stdin.isTTY ? '; Enter prints another' : ''}; Ctrl+C ends.\n`,
  );
  show();
  if (stdin.isTTY) stdin.on('data', show);
  await untilEnded(deps);
  stdin.off('data', show);
  stdin.pause();
  await server.close();
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}
