/** Ends the embedded process; guests and other containers run on without it. */
import type { Clock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { isSameProcess, type ProcessIdentity, signalProcess } from '../../base/node/process-identity.ts';

const STOP_PATIENCE_MS = 15_000;

export async function stopProcess(identity: ProcessIdentity, clock: Clock): Promise<void> {
  signalProcess(identity, 'SIGTERM'); // one that has ended meanwhile is what is wanted
  const deadline = clock.steady() + STOP_PATIENCE_MS;
  while (isSameProcess(identity)) {
    if (clock.steady() > deadline) {
      throw new UserError('STILL_RUNNING', `the embedded cluster (process ${identity.pid}) does not end`, {
        fix: `kill -9 ${identity.pid}`,
        exitCode: 5,
      });
    }
    await clock.sleep(20);
  }
}
