/**
 * Joins what QEMU has written to the log of a serial port with what comes through its socket, so that nothing is missing and nothing is there twice: what is printed while
 * the log is read, and until QEMU has taken the connection, is in the log alone; from then on everything is in both, in the one a little earlier than in the other.
 */
import { readSince, readTail } from './serial-log.ts';

/** Of what was printed meanwhile; more is more than anybody prints in that time. */
const MOST_BYTES = 1024 * 1024;
/** How far log and socket may be apart. */
const MOST_APART_BYTES = 64 * 1024;
/** A guest may print the same all the time, so that each place is nearly the right one. */
const MOST_COMPARED_BYTES = 1024;

export class LogJoin {
  readonly #path: string;
  /** How long the log was when its past was read. */
  #pastEnd = 0;
  /** Of what came after that, so much was shown out of the log. */
  #shown = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** What was printed before anybody was connected. */
  async readPast(maxBytes: number): Promise<Buffer> {
    const { bytes, end } = await readTail(this.#path, maxBytes);
    this.#pastEnd = end;
    return bytes;
  }

  /** Others have written to the log, and shown it. */
  skip(bytes: number): void {
    this.#shown += bytes;
  }

  /** What is to be shown in the place of the first that came through the socket; while nothing has, what the log has. */
  async join(received: () => Buffer): Promise<Buffer> {
    const logged = await readSince(this.#path, this.#pastEnd, MOST_BYTES);
    const first = received();
    const begins = first.length === 0 ? logged.length : whereItBegins(logged, first);
    const shown = this.#shown;
    if (begins === undefined) return first;
    this.#shown = Math.max(shown, begins);
    return begins >= shown ? Buffer.concat([logged.subarray(shown, begins), first]) : first.subarray(shown - begins);
  }
}

/** Where in the log that begins what was received; of several places the one at which both end, or nearest to it. Undefined when it is not there. */
export function whereItBegins(logged: Buffer, received: Buffer): number | undefined {
  const expected = Math.max(0, logged.length - received.length);
  for (let apart = 0; apart <= MOST_APART_BYTES; apart++)
    for (const at of apart === 0 ? [expected] : [expected - apart, expected + apart]) {
      if (at < 0 || at > logged.length) continue;
      const length = Math.min(received.length, logged.length - at, MOST_COMPARED_BYTES);
      if (logged.compare(received, 0, length, at, at + length) === 0) return at;
    }
  return undefined;
}
