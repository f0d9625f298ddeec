/**
 * SHA-256 of what comes in pieces (FIPS 180-4), for browsers: theirs takes only a whole text, which a disk is too large to be. Where Node is there, its own
 * is quicker.
 */

const BLOCK_BYTES = 64;
const ROUNDS = 64;
/** What the standard takes from the fractions of the roots of the first primes. */
const PRIMES = firstPrimes(ROUNDS);
const ROUND_WORDS = Int32Array.from(PRIMES, (prime) => fractionBits(Math.cbrt(prime)));
const FIRST_STATE = Int32Array.from(PRIMES.slice(0, 8), (prime) => fractionBits(Math.sqrt(prime)));

export class Sha256 {
  readonly #state: Int32Array;
  readonly #words = new Int32Array(ROUNDS);
  readonly #rest = new Uint8Array(BLOCK_BYTES);
  #bytes: number;

  constructor(before?: Sha256) {
    this.#state = (before ? before.#state : FIRST_STATE).slice();
    this.#bytes = before ? before.#bytes : 0;
    if (before) this.#rest.set(before.#rest);
  }

  update(bytes: Uint8Array): void {
    const kept = this.#bytes % BLOCK_BYTES;
    this.#bytes += bytes.length;
    let at = 0;
    if (kept > 0) {
      at = Math.min(BLOCK_BYTES - kept, bytes.length);
      this.#rest.set(bytes.subarray(0, at), kept);
      if (kept + at < BLOCK_BYTES) return;
      this.#mix(viewOf(this.#rest), 0);
    }
    const view = viewOf(bytes);
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#mix(view, at);
    this.#rest.set(bytes.subarray(at));
  }

  /** Of all that came so far, in hexadecimal; more may come. */
  hex(): string {
    const end = new Sha256(this);
    // a 1 bit, zeros, and the length in bits: up to a whole block
    const padding = new Uint8Array(BLOCK_BYTES - ((this.#bytes + 8) % BLOCK_BYTES) + 8);
    padding[0] = 0x80;
    viewOf(padding).setBigUint64(padding.length - 8, BigInt(this.#bytes) * 8n);
    end.update(padding);
    return Array.from(end.#state, (word) => (word >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #mix(block: DataView, at: number): void {
    const words = this.#words;
    for (let i = 0; i < 16; i++) words[i] = block.getInt32(at + 4 * i);
    for (let i = 16; i < ROUNDS; i++) {
      const early = words[i - 15] as number; // all in range
      const late = words[i - 2] as number;
      const s0 = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
      const s1 = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
      words[i] = (words[i - 16] as number) + s0 + (words[i - 7] as number) + s1;
    }
    const state = this.#state;
    let a = state[0] as number; // it has eight, and taking them by index is what makes it quick
    let b = state[1] as number;
    let c = state[2] as number;
    let d = state[3] as number;
    let e = state[4] as number;
    let f = state[5] as number;
    let g = state[6] as number;
    let h = state[7] as number;
    for (let i = 0; i < ROUNDS; i++) {
      const sum1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const first = (h + sum1 + ((e & f) ^ (~e & g)) + (ROUND_WORDS[i] as number) + (words[i] as number)) | 0;
      const sum0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const second = (sum0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + first) | 0;
      d = c;
      c = b;
      b = a;
      a = (first + second) | 0;
    }
    const mixed = [a, b, c, d, e, f, g, h];
    for (let i = 0; i < mixed.length; i++) state[i] = (state[i] as number) + (mixed[i] as number);
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}

function fractionBits(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) if (found.every((prime) => candidate % prime !== 0)) found.push(candidate);
  return found;
}
