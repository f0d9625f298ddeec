/** What was typed into a console since its connection was opened, as far back as it is kept: should the guest move, the end of it is sent again. */
const KEPT_BYTES = 256 * 1024;

export class TypedBytes {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** How much went before what is kept. */
  #before = 0;

  add(bytes: Uint8Array): void {
    this.#pieces.push(Uint8Array.from(bytes));
    this.#bytes += bytes.length;
    while (this.#bytes > KEPT_BYTES && this.#pieces.length > 1) {
      const length = this.#pieces.shift()?.length ?? 0;
      this.#bytes -= length;
      this.#before += length;
    }
  }

  /** The guest has so many bytes; what is left is the beginning for the next connection. */
  isTaken(taken: number): void {
    const rest = joined(this.#pieces, this.#bytes).subarray(Math.max(0, taken - this.#before));
    this.#pieces = rest.length > 0 ? [rest] : [];
    this.#bytes = rest.length;
    this.#before = 0;
  }

  again(): readonly Uint8Array[] {
    return this.#pieces;
  }
}

function joined(pieces: readonly Uint8Array[], bytes: number): Uint8Array {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
