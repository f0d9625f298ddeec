/** What commands have in common that serve pages on loopback until they are ended. */
import { spawn } from 'node:child_process';
import { UserError } from '../base/errors.ts';
import type { Deps } from './deps.ts';

/** 0 is any free one. */
export function parsePort(port: number): number {
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port;
  throw new UserError('USAGE', `invalid port ${port}`, { why: 'a port is a number from 1 to 65535', fix: 'leave --port out', exitCode: 2 });
}

/** Ctrl+C, or whatever else ends programs. */
export function untilEnded({ onSignal, signal }: Pick<Deps, 'onSignal' | 'signal'>): Promise<void> {
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
export function openBrowser(link: string, env: NodeJS.ProcessEnv): void {
  const program = env['BROWSER'] ?? (env['DISPLAY'] || env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined);
  if (program === undefined) return;
  const child = spawn(program, [link], { stdio: 'ignore', detached: true });
  child.on('error', () => {}); // the address is printed as well
  child.unref();
}
