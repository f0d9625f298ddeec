/** The two folders that we write to, and nothing outside them. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Everything that an embedded cluster keeps: $VIRT_HOME. */
export function virtHome(env: Environment = process.env): string {
  return resolve(env['VIRT_HOME'] || join(env['XDG_DATA_HOME'] || join(homedir(), '.local/share'), 'kubevirt-ts'));
}

/** What can be made again at any time: $KUBEVIRT_CACHE. */
export function cacheFolder(env: Environment = process.env): string {
  return resolve(env['KUBEVIRT_CACHE'] || join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'kubevirt-ts'));
}
