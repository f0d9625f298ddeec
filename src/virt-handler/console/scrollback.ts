/** The last bytes of a stream: a ring, because a guest may write a byte at a time for ever. It takes memory as it fills, up to its cap. */
const FIRST_BYTES = 16 * 1024;

export class Scrollback {
  readonly #capBytes: number;
  #ring = Buffer.alloc(0);
  /** Where the next byte goes; has wrapped once it is over the size. */
  #written = 0;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  push(bytes: Buffer): void {
    this.#grow(bytes.length);
    const kept = bytes.subarray(-this.#capBytes);
    this.#written += bytes.length - kept.length;
    const at = this.#written % this.#ring.length;
    const copied = kept.copy(this.#ring, at);
    kept.copy(this.#ring, 0, copied);
    this.#written += kept.length;
  }

  /** Until it has wrapped for the first time, everything is at the beginning. */
  #grow(moreBytes: number): void {
    const needed = Math.min(this.#written + moreBytes, this.#capBytes);
    if (this.#ring.length >= needed) return;
    const larger = Buffer.alloc(Math.min(this.#capBytes, Math.max(FIRST_BYTES, 2 ** Math.ceil(Math.log2(needed)))));
    this.#ring.copy(larger, 0, 0, this.#written);
    this.#ring = larger;
  }

  /** A copy of what is kept, oldest first; of what was pushed after the first `from` bytes, when so many were. */
  read(from = 0): Buffer {
    const kept = this.#kept();
    return from > this.#written ? kept : kept.subarray(Math.max(0, kept.length - (this.#written - from)));
  }

  #kept(): Buffer {
    if (this.#written <= this.#capBytes) return Buffer.from(this.#ring.subarray(0, this.#written));
    const at = this.#written % this.#capBytes;
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
  }
}
