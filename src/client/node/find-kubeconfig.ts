/** Which kubeconfig is meant where nobody says. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../base/errors.ts';

export type KubeconfigChoice = {
  /** Named by whoever calls. */
  readonly named?: string | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** The data folder of an embedded cluster. */
  readonly home: string;
};

/** The administrator's, of the embedded cluster with this data folder. */
export function kubeconfigPath(home: string): string {
  return join(home, 'kubeconfig');
}

/** The named one, $KUBECONFIG, that of the embedded cluster, ~/.kube/config. */
export function findKubeconfig({ named, env, home }: KubeconfigChoice): string {
  const explicit = named ?? env['KUBECONFIG'];
  if (explicit) return explicit;
  const candidates = [kubeconfigPath(home), join(homedir(), '.kube', 'config')];
  const found = candidates.find((path) => existsSync(path));
  if (found) return found;
  throw new UserError('NO_CLUSTER', 'there is no cluster to talk to', {
    why: `neither KUBECONFIG is set nor is there one of ${candidates.join(', ')}`,
    fix: 'virtctl up starts one on this machine',
    exitCode: 8,
  });
}
