/**
 * The embedded cluster: one process with everything but the guests. Started by `virtctl up`, which it tells over its IPC channel
 * that it serves or why it cannot; ends on SIGTERM without touching the guests. Where it dies otherwise, it is started again: see supervisor.ts.
 */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../base/clock.ts';
import { ApiError, INSUFFICIENT_STORAGE, messageOf, UserError } from '../base/errors.ts';
import { createLogger } from '../base/log.ts';
import { cacheFolder, virtHome } from '../base/node/folders.ts';
import { createLogOutput } from '../base/node/log-output.ts';
import { limitStandardError, logWarnings } from '../base/node/log-warnings.ts';
import { explainSystemError, noRoom } from '../base/node/system-error.ts';

const STDOUT = 1;
enableCompileCache(join(cacheFolder(), 'compile'));
delete process.env['NODE_COMPILE_CACHE']; // set for us, not for the programs that we start

const { values } = parseArgs({
  options: {
    home: { type: 'string', default: virtHome() },
    port: { type: 'string', default: '6443' },
    network: { type: 'string', default: 'host' },
    nodes: { type: 'string', default: '1' },
    'page-port': { type: 'string' },
    listener: { type: 'string' },
    adopt: { type: 'boolean', default: false },
    'without-controllers': { type: 'boolean', default: false },
    'host-ports': { type: 'boolean', default: false },
  },
});
// A full disk must not end the control plane: guests need it, and room may come back.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
const log = createLogger({
  write: createLogOutput(STDOUT, (line) => process.stdout.write(`${line}\n`)),
  repeatAfterMs: 60_000,
  level: process.env['KUBEVIRT_LOG'] === 'debug' ? 'debug' : 'info',
  now: systemClock.now,
});
logWarnings(log);
limitStandardError();
const stop = new AbortController();
process.on('SIGTERM', () => stop.abort());
process.on('SIGINT', () => stop.abort());
// Whatever goes wrong while we end as we were asked to, nobody is to start us again.
process.on('exit', () => {
  if (stop.signal.aborted) process.exitCode = 0;
});
process.on('unhandledRejection', (error) => log.error('a failure that nobody handled', { error }));

if (values['host-ports']) await serveHostPorts();

try {
  const { runEmbedded } = await import('./embedded/run-embedded.ts'); // after the compile cache is on
  const { state, stopped } = await runEmbedded({
    home: values.home,
    port: Number(values.port),
    network: values.network === 'namespace' ? 'namespace' : 'host',
    nodes: Number(values.nodes),
    adopt: values.adopt,
    runsControllers: !values['without-controllers'],
    ...(values['page-port'] !== undefined && { pagePort: Number(values['page-port']) }),
    ...(values.listener !== undefined && { listener: Number(values.listener) }),
    log,
    clock: systemClock,
    signal: stop.signal,
  });
  report({ ready: state });
  await stopped;
  log.info('the embedded cluster has stopped; guests run on');
  process.exit(0);
} catch (error) {
  log.error('the embedded cluster cannot start', { error });
  const isFull = error instanceof ApiError && error.code === INSUFFICIENT_STORAGE;
  const explained = error instanceof UserError ? error : isFull ? noRoom(values.home, error) : explainSystemError(error);
  const { code = 'EMBEDDED_FAILED', why, fix, exitCode = 1 } = explained ?? {};
  report({ failed: { code, message: messageOf(explained ?? error), why, fix, exitCode } });
  process.exit(exitCode);
}

/** Not the cluster, but what listens at the loopback of the host for it, outside of its network namespace; ends with it. */
async function serveHostPorts(): Promise<never> {
  const { runHostPorts } = await import('../control-plane/services/host-ports/run-host-ports.ts');
  const { hostPortsPath } = await import('../virtctl/embedded/paths.ts');
  await runHostPorts(hostPortsPath(values.home)).catch((error) => log.warn('ports of the host are not served', { error }));
  process.exit(0);
}

/** The starter listens once and goes away; without one (by hand, in a terminal) there is nobody to tell. */
function report(message: object): void {
  if (!process.connected) return;
  process.send?.(message);
  process.disconnect();
}
