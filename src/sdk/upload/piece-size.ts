/** How much of a file is sent with one request: more while it comes through, and for good less than what stood still. Pure. */
const FIRST_BYTES = 2 ** 18;
const LEAST_BYTES = 2 ** 16;
const MOST_BYTES = 16 * 2 ** 20;
/** Before anything is known of the way, and at least. */
const FIRST_PATIENCE_MS = 10_000;
const LEAST_PATIENCE_MS = 2_000;
/** A piece may take this many times as long as those before it. */
const SLACK = 8;

export class PieceSize {
  #bytes = FIRST_BYTES;
  #most = MOST_BYTES;
  #bytesPerMs: number | undefined;

  get bytes(): number {
    return this.#bytes;
  }

  /** After which time a piece is given up. */
  patienceMs(): number {
    if (this.#bytesPerMs === undefined) return FIRST_PATIENCE_MS;
    return Math.max(LEAST_PATIENCE_MS, Math.ceil((SLACK * this.#bytes) / this.#bytesPerMs));
  }

  came(bytes: number, elapsedMs: number): void {
    this.#bytesPerMs = bytes / Math.max(1, elapsedMs);
    this.#bytes = Math.min(this.#most, this.#bytes * 2);
  }

  stoodStill(): void {
    this.#most = Math.max(LEAST_BYTES, this.#bytes / 2);
    this.#bytes = this.#most;
    this.#bytesPerMs = undefined; // a slow way is no reason to give up again
  }
}
