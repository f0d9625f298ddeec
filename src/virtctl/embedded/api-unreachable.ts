/** What to say of a cluster whose process is there and whose API does not answer. */
import { messageOf, UserError } from '../../base/errors.ts';
import { isStopped, type ProcessIdentity } from '../../base/node/process-identity.ts';

/** `next` is what the user does when the process is out of the way: a new one on the same data can be asked. */
export function apiUnreachable(process: ProcessIdentity, { next, cause }: { readonly next: string; readonly cause: unknown }): UserError {
  const { pid } = process;
  const hasStopped = isStopped(process);
  return new UserError('API_UNREACHABLE', `the embedded cluster (process ${pid}) runs, but its API cannot be reached`, {
    why: hasStopped ? 'somebody has stopped the process (SIGSTOP, or Ctrl+Z)' : messageOf(cause),
    fix: hasStopped
      ? `kill -CONT ${pid}; or kill -9 ${pid}, then ${next}: guests are not touched`
      : `kill ${pid}, then ${next}: guests are not touched by the first`,
    exitCode: 8,
    cause,
  });
}
