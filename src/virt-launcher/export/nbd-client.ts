/**
 * Reads a disk from an NBD server at a socket of this Pod, one request after the other.
 * The protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
 */
import { connect, type Socket } from 'node:net';

const GREETING = Buffer.from('NBDMAGICIHAVEOPT');
const OPTION = Buffer.from('IHAVEOPT');
const FIXED_NEWSTYLE_NO_ZEROES = 3;
const OPTION_GO = 7;
const OPTION_REPLY = 0x3e889045565a9n;
const REPLY = { ack: 1, info: 3 } as const;
const REQUEST = 0x25609513;
const ANSWER = 0x67446698;
/** No answer about an export is longer. */
const MOST_INFO_BYTES = 4096;

export class NbdClient {
  readonly #socket: Socket;
  readonly #incoming: AsyncIterator<Buffer>;
  #rest: Buffer = Buffer.alloc(0);
  #last: Promise<unknown> = Promise.resolve();

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#incoming = socket.iterator({ destroyOnReturn: false });
  }

  /** Resolves when the one export of the server can be read. */
  static async open(path: string): Promise<NbdClient> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    const client = new NbdClient(socket);
    await client.#greet();
    return client;
  }

  /** These bytes of the disk. */
  read(from: number, bytes: number): Promise<Buffer> {
    const work = this.#last.catch(() => {}).then(() => this.#ask(from, bytes));
    this.#last = work;
    return work;
  }

  close(): void {
    this.#socket.destroy();
  }

  async #greet(): Promise<void> {
    if (!(await this.#take(GREETING.length)).equals(GREETING)) throw new Error('no NBD server answers');
    await this.#take(2); // what it can do: all servers of this style know what we ask
    const flags = Buffer.alloc(4);
    flags.writeUInt32BE(FIXED_NEWSTYLE_NO_ZEROES);
    const go = Buffer.alloc(14); // the export without a name, and nothing else to be told of it
    go.writeUInt32BE(OPTION_GO, 0);
    go.writeUInt32BE(6, 4);
    this.#socket.write(Buffer.concat([flags, OPTION, go]));
    for (;;) {
      const head = await this.#take(20);
      const [type, length] = [head.readUInt32BE(12), head.readUInt32BE(16)];
      if (head.readBigUInt64BE(0) !== OPTION_REPLY || length > MOST_INFO_BYTES)
        throw new Error('the NBD server does not keep to the protocol');
      await this.#take(length);
      if (type === REPLY.ack) return;
      if (type !== REPLY.info) throw new Error(`the NBD server refuses: ${type.toString(16)}`);
    }
  }

  async #ask(from: number, bytes: number): Promise<Buffer> {
    const request = Buffer.alloc(28); // type 0: read; cookie 0: there is one at a time
    request.writeUInt32BE(REQUEST, 0);
    request.writeBigUInt64BE(BigInt(from), 16);
    request.writeUInt32BE(bytes, 24);
    this.#socket.write(request);
    const head = await this.#take(16);
    if (head.readUInt32BE(0) !== ANSWER) throw new Error('the NBD server does not keep to the protocol');
    const error = head.readUInt32BE(4);
    if (error !== 0) throw new Error(`the disk cannot be read at ${from}: error ${error}`);
    return this.#take(bytes);
  }

  async #take(bytes: number): Promise<Buffer> {
    const parts = [this.#rest];
    let length = this.#rest.length;
    while (length < bytes) {
      const { done, value } = await this.#incoming.next();
      if (done) throw new Error('the NBD server has ended');
      parts.push(value);
      length += value.length;
    }
    const all = parts.length === 1 ? this.#rest : Buffer.concat(parts);
    this.#rest = all.subarray(bytes);
    return all.subarray(0, bytes);
  }
}
