/**
 * When a guest that has just been started first printed something, and when it first asked for a login, by what comes from its serial port. Of what it
 * prints nothing but these two times is kept: a guest can print what it likes, and only its own start is told wrongly then.
 */
import type { GuestStart } from '../../api/handler/usage-history.ts';

const PROMPT = Buffer.from('login:');
/** A guest that has printed so much without asking is not looked at any more. */
const MOST_BYTES = 8 * 2 ** 20;

export class StartMarks {
  #start: GuestStart = {};
  /** The end of what came before, in which a prompt may have begun. */
  #end = Buffer.alloc(0);
  #bytes = 0;

  see(bytes: Buffer, nowMs: number): void {
    if (bytes.length === 0 || this.#start.loginAtMs !== undefined || this.#bytes > MOST_BYTES) return;
    this.#bytes += bytes.length;
    const text = this.#end.length === 0 ? bytes : Buffer.concat([this.#end, bytes]);
    const { printedAtMs = nowMs } = this.#start;
    this.#start = { printedAtMs, ...(text.includes(PROMPT) && { loginAtMs: nowMs }) };
    this.#end = Buffer.from(text.subarray(-(PROMPT.length - 1)));
  }

  get start(): GuestStart {
    return this.#start;
  }
}
