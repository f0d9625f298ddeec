import { UserError } from '../../src/base/errors.ts';

/** Does the work; what a person can mend is told in three lines and is the exit code, anything else is a mistake of ours. */
export async function reportUserError(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    console.error(`error[${error.code}]: ${error.message}\nwhy: ${error.why}\nfix: ${error.fix}`);
    process.exitCode = error.exitCode;
  }
}
