/** What Node.js warns of, and what is written to standard error, goes where the log goes: that has a limit. */
import type { Logger } from '../log.ts';
import { createLogOutput } from './log-output.ts';

const STDERR = 2;
/** Said of every start by what we use on purpose. */
const EXPECTED = 'ExperimentalWarning';

/**
 * Warnings of Node.js become warnings of the log, which says the same one once a minute. Node.js itself writes each, and of a timer that is set
 * wrongly there may be half a million.
 */
export function logWarnings(log: Logger): void {
  process.removeAllListeners('warning');
  process.on('warning', ({ name, message }) => {
    if (name !== EXPECTED) log.warn('Node.js warns', { name, because: message });
  });
}

/** Standard error has the limit of a log when it is a file. */
export function limitStandardError(maxBytes?: number): void {
  const write = process.stderr.write.bind(process.stderr);
  const output = createLogOutput(STDERR, (line) => write(`${line}\n`), maxBytes);
  process.stderr.write = (chunk: string | Uint8Array, ...rest: unknown[]) => {
    output((typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)).replace(/\n$/, ''));
    const written = rest.findLast((each) => typeof each === 'function');
    if (written) queueMicrotask(() => written());
    return true;
  };
}
