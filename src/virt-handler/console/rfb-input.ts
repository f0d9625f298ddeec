/**
 * What a VNC viewer sends, message by message, so that what changes something in the guest can be told from what only looks. Pure.
 *
 *   input, dropped when it is another's turn     keys, pointer, clipboard, size of the screen
 *   all others                                   passed on: they are about what this viewer is shown
 *
 * A message of an unknown kind cannot be told from the next one; QEMU ends such a connection, and so do we.
 */
const VERSION_LENGTH = 12;
/** From RFB 3.7 on the viewer chooses how to prove who it is, in one byte. */
const CHOOSES_SECURITY_FROM = 7;

type Shape = {
  /** How much has to be there to know the length. */
  readonly head: number;
  readonly length: (head: Buffer) => number;
  readonly isInput?: true;
};
const fixed = (bytes: number): Shape => ({ head: bytes, length: () => bytes });
const KEY = 4;
const POINTER = 5;
const QEMU = 255;

const SHAPES: Readonly<Record<number, Shape>> = {
  0: fixed(20), // pixel format
  2: { head: 4, length: (head) => 4 + 4 * head.readUInt16BE(2) }, // encodings
  3: fixed(10), // asks for a picture
  [KEY]: { ...fixed(8), isInput: true },
  [POINTER]: { ...fixed(6), isInput: true },
  6: { head: 8, length: (head) => 8 + Math.abs(head.readInt32BE(4)), isInput: true }, // clipboard
  150: fixed(10), // continuous updates
  248: { head: 9, length: (head) => 9 + head.readUInt8(8) }, // fence
  251: { head: 8, length: (head) => 8 + 16 * head.readUInt8(6), isInput: true }, // size of the screen
};
/** QEMU's own messages, by their second byte. */
const QEMU_SHAPES: Readonly<Record<number, Shape>> = {
  0: { ...fixed(12), isInput: true }, // a key with its scan code
  1: { head: 4, length: (head) => (head.readUInt16BE(2) === 2 ? 10 : 4) }, // sound
};

export class RfbInput {
  #held = Buffer.alloc(0);
  #phase: 'version' | 'security' | 'init' | 'messages' = 'version';
  /** What is left of a long message, and whether it is passed on. */
  #rest = { bytes: 0, isPassed: true };
  readonly #pressed = new Map<number, Buffer>();
  #pointer: Buffer | undefined;

  /** The bytes to pass on. `mayWrite` is asked for each message that is input; undefined when the viewer is not understood. */
  push(chunk: Buffer, mayWrite: () => boolean): Buffer | undefined {
    this.#held = Buffer.concat([this.#held, chunk]);
    const passed: Buffer[] = [];
    while (this.#held.length > 0) {
      const length = this.#phase === 'messages' ? this.#next(mayWrite) : this.#greeting();
      if (length === undefined) return undefined;
      if (length === 0) break;
      const piece = this.#held.subarray(0, length);
      this.#held = this.#held.subarray(length);
      if (this.#rest.isPassed) passed.push(piece);
    }
    return Buffer.concat(passed);
  }

  /** Lets go of every key and button that this viewer holds: what it does next may be dropped. */
  release(): Buffer {
    const ups = [...this.#pressed.values()].map((message) => {
      const up = Buffer.from(message);
      if (up[0] === QEMU) up.writeUInt16BE(0, 2);
      else up.writeUInt8(0, 1);
      return up;
    });
    if (this.#pointer?.[1]) {
      const up = Buffer.from(this.#pointer);
      up.writeUInt8(0, 1);
      ups.push(up);
    }
    this.#pressed.clear();
    this.#pointer = undefined;
    return Buffer.concat(ups);
  }

  /** How many bytes of what is held belong to the greeting; 0 when more is needed. */
  #greeting(): number {
    const length = this.#phase === 'version' ? VERSION_LENGTH : 1;
    if (this.#held.length < length) return 0;
    if (this.#phase === 'version') {
      const minor = Number(this.#held.toString('latin1', 8, 11));
      this.#phase = minor >= CHOOSES_SECURITY_FROM ? 'security' : 'init';
    } else this.#phase = this.#phase === 'security' ? 'init' : 'messages';
    return length;
  }

  /** The same for messages; a long one is taken in pieces. */
  #next(mayWrite: () => boolean): number | undefined {
    if (this.#rest.bytes === 0) {
      const [kind = 0, second] = this.#held;
      if (kind === QEMU && second === undefined) return 0;
      const shape = kind === QEMU ? QEMU_SHAPES[second ?? 0] : SHAPES[kind];
      if (!shape) return undefined;
      if (this.#held.length < shape.head) return 0;
      const isPassed = !shape.isInput || mayWrite();
      if (shape.isInput && isPassed) this.#remember(this.#held.subarray(0, shape.head));
      this.#rest = { bytes: shape.length(this.#held), isPassed };
    }
    const taken = Math.min(this.#rest.bytes, this.#held.length);
    this.#rest = { ...this.#rest, bytes: this.#rest.bytes - taken };
    return taken;
  }

  #remember(message: Buffer): void {
    const [kind] = message;
    if (kind === POINTER) this.#pointer = Buffer.from(message);
    const isQemuKey = kind === QEMU && message[1] === 0;
    if (kind !== KEY && !isQemuKey) return;
    const symbol = message.readUInt32BE(4);
    const isDown = isQemuKey ? message.readUInt16BE(2) !== 0 : message[1] !== 0;
    if (isDown) this.#pressed.set(symbol, Buffer.from(message));
    else this.#pressed.delete(symbol);
  }
}
