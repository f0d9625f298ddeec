/** Headers of SPDY/3.1: pairs of names and values, compressed with one context for each direction of a connection. */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from 'node:zlib';
import { HEADER_DICTIONARY } from './header-dictionary.ts';

export type Headers = ReadonlyMap<string, string>;

/** What a client of Kubernetes says of a stream is below a hundred bytes. */
const MAX_BLOCK_BYTES = 16 * 1024;
const OPTIONS = { dictionary: HEADER_DICTIONARY, flush: constants.Z_SYNC_FLUSH };
const NO_HEADERS = Buffer.alloc(4);

/** One block after the other: each needs what came before it. */
export class HeaderBlocks {
  readonly #inflate = createInflate(OPTIONS);
  readonly #deflate = createDeflate(OPTIONS);

  constructor() {
    for (const zlib of [this.#inflate, this.#deflate]) zlib.on('error', () => {}); // may come after whoever waited was told
  }

  async read(block: Buffer): Promise<Headers> {
    return parseHeaders(await through(this.#inflate, block));
  }

  /** The block that says nothing, for a reply. */
  none(): Promise<Buffer> {
    return through(this.#deflate, NO_HEADERS);
  }

  close(): void {
    this.#inflate.destroy();
    this.#deflate.destroy();
  }
}

function through(zlib: Inflate | Deflate, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size <= MAX_BLOCK_BYTES) return;
      reject(new Error('headers are too large')); // few bytes can stand for many
      zlib.destroy();
    };
    const close = () => reject(new Error('the connection is closed'));
    zlib.on('data', take).once('error', reject).once('close', close);
    zlib.write(bytes, (error) => {
      zlib.off('data', take).off('error', reject).off('close', close);
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    });
  });
}

function parseHeaders(text: Buffer): Headers {
  let at = 0;
  const number = () => {
    if (at + 4 > text.length) throw new Error('headers are too short');
    at += 4;
    return text.readUInt32BE(at - 4);
  };
  const word = () => {
    const length = number();
    if (at + length > text.length) throw new Error('headers are too short');
    at += length;
    return text.toString('latin1', at - length, at);
  };
  const headers = new Map<string, string>();
  for (let left = number(); left > 0; left--) headers.set(word().toLowerCase(), word());
  return headers;
}
