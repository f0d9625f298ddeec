/** The kubeconfig of the user, as kubectl finds it, and our context in it. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { kubeconfigPath } from '../../client/node/find-kubeconfig.ts';
import { CONTEXT, type Kubeconfig, mergeKubeconfig } from './merge-kubeconfig.ts';

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
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const unfinished = `${path}.${process.pid}`;
  try {
    writeFileSync(unfinished, text, { mode: before === '' ? 0o600 : statSync(path).mode & 0o777, flag: 'wx' });
    renameSync(unfinished, path);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return `context ${CONTEXT} put into ${path} (${how})`;
}
