/**
 * Where a mounted path of a container really is. Embedded Pods are host processes without a mount namespace: the node runtime puts a
 * volume that is mounted at P under $CONTAINER_SANDBOX_MOUNT_POINT + P. On a cluster the variable is not set and a path is itself.
 */
import { join, resolve } from 'node:path';

/** Also what a process of a Pod is found by. */
export const SANDBOX_VARIABLE = 'CONTAINER_SANDBOX_MOUNT_POINT';

/** Set for a process beside a guest that has a network of its own, which nobody is to join. */
export const APART_VARIABLE = 'CONTAINER_NETWORK_APART';

type Environment = Readonly<Record<string, string | undefined>>;

/** The path under which this process finds what its Pod mounts at `path`. */
export function sandboxPath(path: string, env: Environment = process.env): string {
  const root = env[SANDBOX_VARIABLE];
  // resolve() first: `..` ends at the root of the sandbox, as it would end at the root of a container.
  return root ? join(root, resolve('/', path)) : path;
}
