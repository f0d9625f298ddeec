/**
 * SHA-1, pure and synchronous: pure files may not use the platform's crypto, and names derived from a hash must come out
 * the same in Node and in a browser. For identities and short suffixes only, never for security.
 */

/** The digest of the bytes, 20 bytes long. */
export function sha1(bytes: Uint8Array): Uint8Array {
  const message = padded(bytes);
  const state = Int32Array.of(0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0);
  const words = new Int32Array(80);
  for (let at = 0; at < message.byteLength; at += 64) mixBlock(state, words, new DataView(message.buffer, at, 64));
  const digest = new DataView(new ArrayBuffer(20));
  state.forEach((word, i) => digest.setInt32(i * 4, word));
  return new Uint8Array(digest.buffer);
}

/** The digest of a text, as 40 hexadecimal digits. */
export function sha1Hex(text: string): string {
  let hex = '';
  for (const byte of sha1(new TextEncoder().encode(text))) hex += (byte + 0x100).toString(16).slice(1);
  return hex;
}

/** The message, a 1 bit, zeros, and the length in bits: a whole number of 64-byte blocks. */
function padded(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  result.set(bytes);
  result[bytes.length] = 0x80;
  new DataView(result.buffer).setBigUint64(result.length - 8, BigInt(bytes.length) * 8n);
  return result;
}

/** Plain loops over numbers: names are made of digests with every look at a machine. */
function mixBlock(state: Int32Array, words: Int32Array, block: DataView): void {
  for (let i = 0; i < 16; i++) words[i] = block.getInt32(i * 4);
  for (let i = 16; i < 80; i++) words[i] = rotate(words[i - 3]! ^ words[i - 8]! ^ words[i - 14]! ^ words[i - 16]!, 1); // all in range: 80 words
  let [a, b, c, d, e] = state as unknown as [number, number, number, number, number]; // sha1() makes exactly five
  for (let i = 0; i < 80; i++) {
    const next = (rotate(a, 5) + choose(i, b, c, d) + e + words[i]!) | 0; // as above
    e = d;
    d = c;
    c = rotate(b, 30);
    b = a;
    a = next;
  }
  state[0]! += a; // five, as above
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
}

/** The function and constant of the round that step `i` belongs to. */
function choose(i: number, b: number, c: number, d: number): number {
  if (i < 20) return ((b & c) | (~b & d)) + 0x5a827999;
  if (i < 40) return (b ^ c ^ d) + 0x6ed9eba1;
  if (i < 60) return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
  return (b ^ c ^ d) + 0xca62c1d6;
}

function rotate(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
