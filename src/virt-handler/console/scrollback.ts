/** The last bytes of a stream: a ring of fixed size, because a guest may write a byte at a time for ever. */
export class Scrollback {
  readonly #capBytes: number;
  #ring: Buffer | undefined;
  /** Where the next byte goes; has wrapped once it is over the size. */
  #written = 0;

  constructor(capBytes: number) {
    this.#capBytes = capBytes;
  }

  push(bytes: Buffer): void {
    this.#ring ??= Buffer.alloc(this.#capBytes);
    const kept = bytes.subarray(-this.#capBytes);
    this.#written += bytes.length - kept.length;
    const at = this.#written % this.#capBytes;
    const copied = kept.copy(this.#ring, at);
    kept.copy(this.#ring, 0, copied);
    this.#written += kept.length;
  }

  /** A copy of what is kept, oldest first. */
  read(): Buffer {
    if (!this.#ring) return Buffer.alloc(0);
    if (this.#written <= this.#capBytes) return Buffer.from(this.#ring.subarray(0, this.#written));
    const at = this.#written % this.#capBytes;
    return Buffer.concat([this.#ring.subarray(at), this.#ring.subarray(0, at)]);
  }
}
