/** Serves the web page for the cluster of the kubeconfig until it is ended. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { UserError } from '../../../base/errors.ts';
import { silentLogger } from '../../../base/log.ts';
import { readPageFiles } from '../../../ui-server/page-files.ts';
import { startUiServer } from '../../../ui-server/start.ts';
import type { ConnectionFlags, Deps } from '../../deps.ts';

export type UiFlags = ConnectionFlags & { readonly port?: number; readonly open: boolean };

export async function run(deps: Deps, flags: UiFlags): Promise<void> {
  const { stdin, stdout, stderr, clock, version } = deps;
  const port = portOf(flags.port ?? 0);
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
  await ended(deps);
  stdin.off('data', show);
  stdin.pause();
  await server.close();
}

function newKey(): string {
  return randomBytes(32).toString('base64url');
}

function portOf(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UserError('USAGE', `invalid port ${port}`, { why: 'a port is a number from 1 to 65535', fix: 'leave --port out', exitCode: 2 });
}

function ended({ onSignal, signal }: Deps): Promise<void> {
  return new Promise((resolve) => {
    const stops = (['SIGINT', 'SIGTERM', 'SIGHUP'] as const).map((each) => onSignal(each, end));
    function end() {
      for (const stop of stops) stop();
      resolve();
    }
    signal.addEventListener('abort', end, { once: true });
  });
}

/** Where there is a screen; a machine without one has the printed address. */
function openBrowser(link: string, env: NodeJS.ProcessEnv): void {
  const program = env['BROWSER'] ?? (env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined);
  if (program === undefined) return;
  const child = spawn(program, [link], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // the address is printed as well
  child.unref();
}
