/** Structured logging: one JSON line per entry. `info` means that something changed in the world. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFields = Readonly<Record<string, unknown>>;

export type Logger = Readonly<Record<LogLevel, (message: string, fields?: LogFields) => void>> & {
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
};

const ORDER: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** A logger that hands finished lines to `write`. */
export function createLogger(options: { write: (line: string) => void; level: LogLevel; now: () => number; fields?: LogFields }): Logger {
  const { write, level, now, fields = {} } = options;
  const at = (entryLevel: LogLevel) => (message: string, extra?: LogFields) => {
    if (ORDER.indexOf(entryLevel) < ORDER.indexOf(level)) return;
    write(JSON.stringify({ time: new Date(now()).toISOString(), level: entryLevel, message, ...fields, ...withErrorText(extra) }));
  };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    with: (more) => createLogger({ write, level, now, fields: { ...fields, ...more } }),
  };
}

/** A logger that says nothing, for tests and for callers that do not care. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLogger };

function withErrorText(fields: LogFields = {}): LogFields {
  const { error } = fields;
  return error instanceof Error ? { ...fields, error: error.message, stack: error.stack } : fields;
}
