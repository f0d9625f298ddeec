/** Structured logging: one JSON line per entry. `info` means that something changed in the world. */
import { ApiError, UserError } from './errors.ts';
import { escapeUnprintable } from './escape-unprintable.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>> & {
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
};

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

export type LoggerOptions = {
  readonly write: (line: string) => void;
  /** What is less than this is left out; a function is asked for each entry. */
  readonly level: LogLevel | (() => LogLevel);
  readonly now: () => number;
  readonly fields?: LogFields;
  /** The same warning is not said again so soon; how often it was left out is said then. Left out: every one is said. */
  readonly repeatAfterMs?: number;
};

/** A logger that hands finished lines to `write`. */
export function createLogger(options: LoggerOptions): Logger {
  return loggerWith(options, options.fields ?? {}, new Map());
}

type Said = { readonly atMs: number; left: number };
/** More different warnings than this within one pause are no repetition any more. */
const MAX_SAID = 1_000;

function loggerWith(options: LoggerOptions, fields: LogFields, said: Map<string, Said>): Logger {
  const { write, level, now, repeatAfterMs } = options;
  const at = (entryLevel: LogLevel) => (message: string, extra?: LogFields) => {
    if (ORDER.indexOf(entryLevel) < ORDER.indexOf(typeof level === 'function' ? level() : level)) return;
    const entry = { level: entryLevel, message, ...fields, ...withErrorText(extra) };
    const isTrouble = entryLevel === 'warn' || entryLevel === 'error';
    const leftOut = isTrouble && repeatAfterMs !== undefined ? repeatsOf(entry, { said, now: now(), repeatAfterMs }) : 0;
    if (leftOut === undefined) return;
    // A log is read on terminals; the escapes are JSON's own, so the entry is the same.
    write(escapeUnprintable(JSON.stringify({ time: new Date(now()).toISOString(), ...entry, ...(leftOut > 0 && { leftOut }) })));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => loggerWith(options, { ...fields, ...more }, said),
  };
}

/** How many like this one were left out before it; undefined when it is to be left out itself. */
function repeatsOf(
  entry: LogFields,
  { said, now, repeatAfterMs }: { said: Map<string, Said>; now: number; repeatAfterMs: number },
): number | undefined {
  const { stack: _, failures: __, ...rest } = entry; // these differ though it is the same that is said
  const key = JSON.stringify(rest);
  const before = said.get(key);
  if (before && now - before.atMs < repeatAfterMs) {
    before.left += 1;
    return undefined;
  }
  if (said.size >= MAX_SAID) said.clear();
  said.set(key, { atMs: now, left: 0 });
  return before?.left ?? 0;
}

/** A logger that says nothing, for tests and for callers that do not care. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLogger };

/** Where in our code an answer of the API, or a mistake that a person can fix, was noticed tells nothing; what it says does. */
function withErrorText(fields: LogFields = {}): LogFields {
  const { error } = fields;
  if (!(error instanceof Error)) return fields;
  const isAnswer = error instanceof ApiError || error instanceof UserError;
  return { ...fields, error: error.message, ...(!isAnswer && { stack: error.stack }) };
}
