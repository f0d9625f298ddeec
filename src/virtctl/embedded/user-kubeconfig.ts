/** The kubeconfig of the user, as kubectl finds it, and our context in it. */
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { CONTEXT, type Kubeconfig, mergeKubeconfig, withoutOurContext } from './merge-kubeconfig.ts';

/** The first file of $KUBECONFIG, else that of the home folder. */
export function userKubeconfig(env: NodeJS.ProcessEnv): string {
  return env['KUBECONFIG']?.split(':').find((path) => path !== '') ?? join(env['HOME'] || homedir(), '.kube', 'config');
}

/** A line about what was done. The file is replaced as a whole, so that nobody ever reads half of it; it stays its owner's alone. */
export function mergeInto(path: string, home: string): string {
  if (path === kubeconfigPath(home)) return `${path} is the cluster's own`;
  const ours = JSON.parse(readFileSync(kubeconfigPath(home), 'utf8')) as Kubeconfig; // we wrote it
  const before = existsSync(path) ? readFileSync(path, 'utf8') : '';
  const { text, isCurrent } = mergeKubeconfig(before, ours, home);
  const how = isCurrent ? 'current' : `kubectl --context ${CONTEXT}`;
  if (text === before) return `context ${CONTEXT} is in ${path} (${how})`;
  replace(path, text, before === '' ? 0o600 : statSync(path).mode & 0o777);
  return `context ${CONTEXT} put into ${path} (${how})`;
}

/** The cluster of the data folder is gone, and its context with it; a line about that, undefined when there was none. */
export function takeFromKubeconfigs(env: NodeJS.ProcessEnv, home: string): string | undefined {
  const paths = new Set([userKubeconfig(env), userKubeconfig({ ...env, KUBECONFIG: undefined })]);
  const changed = [...paths].filter((path) => {
    if (path === kubeconfigPath(home) || !existsSync(path)) return false;
    const text = withoutOurContext(readFileSync(path, 'utf8'), home);
    if (text === undefined) return false;
    if (text === '') rmSync(path);
    else replace(path, text, statSync(path).mode & 0o777);
    return true;
  });
  return changed.length === 0 ? undefined : `context ${CONTEXT} taken out of ${changed.join(' and ')}`;
}

/** The file itself where the path is a link to it, as people have who keep their settings in one folder: the link stays. */
function replace(named: string, text: string, mode: number): void {
  const path = existsSync(named) ? realpathSync(named) : named;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, text, { mode, flag: 'wx' });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
