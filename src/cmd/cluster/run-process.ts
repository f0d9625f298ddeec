/** What every process in a Pod has around it: flags, a log on stdout, signals, health. */
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { VERBOSE } from '../../api/kubevirt/configuration/log-verbosity.ts';
import { systemClock } from '../../base/clock.ts';
import { UserError } from '../../base/errors.ts';
import { createLogger, type Logger } from '../../base/log.ts';
import { logWarnings } from '../../base/node/log-warnings.ts';
import { VERSION } from '../version.ts';
import { type HealthServer, startHealthServer } from './health-server.ts';

export type Flags = Readonly<Record<string, string | undefined>>;
export type ProcessContext = {
  readonly log: Logger;
  /** Aborts on SIGTERM. */
  readonly signal: AbortSignal;
  readonly flags: Flags;
  /** Where we answer; the address of the Pod. */
  readonly host: string;
  readonly health: HealthServer;
  /** Says everything, or as much as the flags ask for. */
  readonly sayEverything: (isWanted: boolean) => void;
};
export type ProcessOptions = {
  readonly name: string;
  /** Flags beside those of every process, with what they are when not given. */
  readonly flags: Readonly<Record<string, string>>;
  /** Resolves when it has ended after the signal. */
  readonly run: (context: ProcessContext) => Promise<void>;
};

const COMMON_FLAGS = { host: '0.0.0.0', 'health-port': '8080', v: '' };

/** Runs until SIGTERM, then leaves with 0; leaves with 1 (and says why) when it fails, so that it is started again. */
export async function runProcess({ name, flags: own, run }: ProcessOptions): Promise<void> {
  // These wait more than they work: what V8 would keep at hand for work to come is half of their memory.
  setFlagsFromString('--optimize-for-size');
  let isVerbose = false;
  const log = createLogger({
    write: (line) => process.stdout.write(`${line}\n`),
    level: () => (isVerbose || process.env['KUBEVIRT_LOG'] === 'debug' ? 'debug' : 'info'),
    now: systemClock.now,
    fields: { component: name },
  });
  logWarnings(log);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => stop.abort());
  process.on('unhandledRejection', (error) => log.error('a failure that nobody handled', { error }));
  try {
    const flags = flagsFrom(process.argv.slice(2), { ...COMMON_FLAGS, ...own });
    const health = await startHealthServer({ host: flags['host'], port: Number(flags['health-port']) });
    log.info('starting', { version: VERSION });
    const sayEverything = (isWanted: boolean) => {
      isVerbose = isWanted || Number(flags['v']) >= VERBOSE;
    };
    sayEverything(false);
    await run({ log, signal: stop.signal, flags, host: flags['host'] ?? '', health, sayEverything });
    log.info('stopped');
    process.exit(0);
  } catch (error) {
    log.error('cannot continue', { error, ...(error instanceof UserError && { code: error.code, why: error.why, fix: error.fix }) });
    process.exit(error instanceof UserError ? error.exitCode : 1);
  }
}

function flagsFrom(args: readonly string[], defaults: Readonly<Record<string, string>>): Flags {
  const options = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, { type: 'string' as const, default: value }]));
  try {
    return parseArgs({ args: [...args], options }).values as Flags;
  } catch (error) {
    const known = Object.keys(defaults).map((name) => `--${name}`);
    throw new UserError('USAGE', (error as Error).message, { fix: `known are ${known.join(', ')}`, exitCode: 2, cause: error });
  }
}
