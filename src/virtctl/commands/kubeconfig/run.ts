/** Prints where the embedded cluster's kubeconfig is. */
import { existsSync } from 'node:fs';
import { UserError } from '../../../base/errors.ts';
import { kubeconfigPath } from '../../../client/node/find-kubeconfig.ts';
import type { Deps } from '../../deps.ts';

export function run({ home, stdout }: Deps): void {
  const path = kubeconfigPath(home);
  if (!existsSync(path)) {
    throw new UserError('NOT_SET_UP', `there is no kubeconfig at ${path}`, {
      why: 'the embedded cluster has not been started with this data folder',
      fix: 'virtctl up',
      exitCode: 3,
    });
  }
  stdout.write(`${path}\n`);
}
