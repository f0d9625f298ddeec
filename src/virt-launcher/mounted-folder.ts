/** Where a volume of the Pod really is. */
import { constants, openSync, realpathSync } from 'node:fs';
import { messageOf, UserError } from '../base/errors.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The folder behind a mount of the Pod; a UserError when nothing is mounted there. */
export function mountedFolder(path: string, env: Environment): string {
  try {
    return realpathSync(sandboxPath(path, env));
  } catch (error) {
    throw new UserError('VOLUME_MISSING', `${path} is not mounted`, { why: messageOf(error), cause: error });
  }
}

/** The same for a user to whom the folders above are closed: a way through the open folder. It stays open as long as the process. */
export function openMountedFolder(path: string, env: Environment): string {
  return `/proc/self/fd/${openSync(mountedFolder(path, env), constants.O_RDONLY | constants.O_DIRECTORY)}`;
}
