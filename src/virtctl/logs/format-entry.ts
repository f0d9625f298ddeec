/** An entry of the embedded cluster's log as people read it. */
import { escapeUnprintable } from '../../base/escape-unprintable.ts';
import { isObject } from '../../base/json.ts';
import type { LogLevel } from '../../base/log.ts';

const ORDER: readonly string[] = ['debug', 'info', 'warn', 'error'];

/** One or more lines, or undefined for an entry below `level`. What is no entry (a crash prints anything) is returned as text. */
export function formatEntry(line: string, level: LogLevel): string | undefined {
  const text = entryText(line, level);
  return text === undefined ? undefined : escapeUnprintable(text);
}

function entryText(line: string, level: LogLevel): string | undefined {
  const entry = parseEntry(line);
  if (!entry) return line;
  const { time, level: entryLevel, message, stack, ...fields } = entry;
  if (ORDER.indexOf(String(entryLevel)) < ORDER.indexOf(level)) return undefined;
  const when = String(time)
    .replace('T', ' ')
    .replace(/\.\d+Z$/, '');
  const told = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? quoted(value) : JSON.stringify(value)}`,
  );
  const first = [when, String(entryLevel).padEnd(5), String(message), ...told].join(' ');
  return level === 'debug' && typeof stack === 'string' ? `${first}\n${stack.replace(/^/gm, '    ')}` : first;
}

function parseEntry(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(line);
    return isObject(parsed) && 'message' in parsed && 'level' in parsed ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function quoted(value: string): string {
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}
