/**
 * When lines of a log were written. Output goes straight from the container to its file, so nobody sees a line pass: a file beside it, of lines
 * `SIZE TIME`, says how large the log was at which look at it. A line has the time of the first look that found it, half a second late at most
 * while a kubelet is there.
 */
import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { open } from 'node:fs/promises';

/** Up to `size` bytes were there at this time. */
export type LogTime = { readonly size: number; readonly atMs: number };

const MAX_NOTES = 50_000;
const NOTE = /^(\d+) (\d+)$/;

function timesPath(log: string): string {
  return `${log}.times`;
}

/** Notes how large the log is, when it has grown since the last note. */
export function noteLogTime(log: string, now: number): void {
  const found = statSync(log, { throwIfNoEntry: false });
  if (!found || found.size === 0) return;
  const notes = statSync(timesPath(log), { throwIfNoEntry: false });
  if (notes && notes.mtimeMs > found.mtimeMs + 1) return;
  const flag = notes && notes.size > MAX_NOTES * 24 ? 'w' : 'a'; // older lines then have the time of the next note
  appendFileSync(timesPath(log), `${found.size} ${now}\n`, { flag, mode: 0o600 });
}

/** In the order of the log. What was noted of a log before it was cut is left out. */
export function readLogTimes(log: string): LogTime[] {
  let text: string;
  try {
    text = readFileSync(timesPath(log), 'utf8');
  } catch {
    return []; // nobody has looked yet
  }
  const times: LogTime[] = [];
  for (const line of text.split('\n')) {
    const [, size, atMs] = NOTE.exec(line) ?? [];
    if (size === undefined || atMs === undefined) continue;
    if (Number(size) < (times.at(-1)?.size ?? 0)) times.length = 0;
    if (Number(size) > (times.at(-1)?.size ?? 0)) times.push({ size: Number(size), atMs: Number(atMs) });
  }
  return times;
}

/** Where the first line begins that was not there before this time. */
export async function startOfTime(log: string, times: readonly LogTime[], sinceMs: number): Promise<number> {
  const index = times.findIndex(({ atMs }) => atMs >= sinceMs);
  const size = index < 0 ? times.at(-1)?.size : times[index - 1]?.size;
  return size === undefined ? 0 : lineStart(log, size);
}

/** The beginning of the line that a look may have seen half of. */
export async function lineStart(log: string, position: number): Promise<number> {
  const CHUNK = 64 * 1024;
  const file = await open(log);
  try {
    for (let end = position; end > 0; end -= CHUNK) {
      const start = Math.max(0, end - CHUNK);
      const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      const newline = buffer.subarray(0, bytesRead).lastIndexOf(0x0a);
      if (newline >= 0) return start + newline + 1;
    }
    return 0;
  } finally {
    await file.close();
  }
}

/** Puts the time before each line of a log that is read from some position on. */
export class LineStamper {
  readonly #times: () => readonly LogTime[];
  readonly #now: () => number;
  #isLineStart = true;
  #known: readonly LogTime[];
  #next = 0;

  constructor(times: () => readonly LogTime[], now: () => number) {
    this.#times = times;
    this.#known = times();
    this.#now = now;
  }

  stamp(chunk: Buffer, position: number): Buffer {
    const parts: Buffer[] = [];
    for (let from = 0; from < chunk.length; ) {
      if (this.#isLineStart) parts.push(Buffer.from(`${new Date(this.#timeOf(position + from)).toISOString().replace('Z', '000000Z')} `));
      const newline = chunk.indexOf(0x0a, from);
      const to = newline < 0 ? chunk.length : newline + 1;
      parts.push(chunk.subarray(from, to));
      this.#isLineStart = newline >= 0;
      from = to;
    }
    return Buffer.concat(parts);
  }

  /** Positions only grow, so no note is looked at twice; one that is not there yet may be by now. */
  #timeOf(position: number): number {
    const find = () => {
      while (this.#next < this.#known.length && (this.#known[this.#next]?.size ?? 0) <= position) this.#next++;
      return this.#known[this.#next]?.atMs;
    };
    const found = find();
    if (found !== undefined) return found;
    this.#known = this.#times();
    this.#next = 0;
    return find() ?? this.#now();
  }
}
