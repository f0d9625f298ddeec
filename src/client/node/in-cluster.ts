/** The cluster that this process runs in, as its service account: where the API is says the environment, who we are says a mounted folder. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVICE_ACCOUNT_MOUNT_PATH } from '../../api/core/service-account-mount.ts';
import { type Clock, systemClock } from '../../base/clock.ts';
import { messageOf, UserError } from '../../base/errors.ts';
import { sandboxPath } from '../../base/node/sandbox-path.ts';
import type { Cluster } from './kubeconfig.ts';

/** A kubelet writes a new token long before the old one ends. */
const TOKEN_LIFE_MS = 30_000;

export type InClusterOptions = { readonly env?: NodeJS.ProcessEnv; readonly clock?: Clock };

/** The token is read again when it may have been replaced; a UserError when this is no Pod or it has no token. */
export function inClusterConfig({ env = process.env, clock = systemClock }: InClusterOptions = {}): Cluster {
  const server = apiServerOfPod(env);
  const folder = sandboxPath(SERVICE_ACCOUNT_MOUNT_PATH, env);
  const ca = read(join(folder, 'ca.crt'));
  let token = { text: read(join(folder, 'token')).trim(), readAt: clock.steady() };
  return {
    context: 'in-cluster',
    server,
    namespace: read(join(folder, 'namespace')).trim(),
    ca,
    get token() {
      if (clock.steady() - token.readAt >= TOKEN_LIFE_MS)
        token = { text: readAgain(join(folder, 'token')) ?? token.text, readAt: clock.steady() };
      return token.text;
    },
  };
}

/** Where the API of this Pod's cluster is; a UserError when this is no Pod. */
export function apiServerOfPod(env: NodeJS.ProcessEnv): string {
  const [host, port] = [env['KUBERNETES_SERVICE_HOST'], env['KUBERNETES_SERVICE_PORT']];
  if (!host || !port) throw missing('KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set');
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw missing(messageOf(error), error);
  }
}

/** Undefined while it cannot be read: the token that we have is good for a while. */
function readAgain(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}

function missing(why: string, cause?: unknown): UserError {
  return new UserError('NOT_IN_CLUSTER', 'Cannot find the Kubernetes API of this Pod', {
    why,
    fix: 'run in a Pod whose service account has its token mounted, or outside of one with a kubeconfig',
    cause,
  });
}
