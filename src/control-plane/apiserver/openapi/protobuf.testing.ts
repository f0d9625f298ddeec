/** Reads protobuf wire format, to check in tests what was written. */

/** The texts of a field, in order. */
export function textsAt(message: Uint8Array, number: number): string[] {
  return messagesAt(message, number).map((bytes) => new TextDecoder('utf-8', { fatal: true }).decode(bytes));
}

/** The bytes of a field that holds messages, in order. */
export function messagesAt(message: Uint8Array, number: number): Uint8Array[] {
  return [...fieldsOf(message)].flatMap((field) => (field.number === number && field.bytes ? [field.bytes] : []));
}

function* fieldsOf(message: Uint8Array): Generator<{ number: number; bytes?: Uint8Array }> {
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 0x80) {
      const byte = message[at++];
      if (byte === undefined) throw new Error('the message ends inside a number');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const wireType = tag % 8;
    if (wireType === 2) {
      const length = varint();
      if (at + length > message.length) throw new Error('the message ends inside a field');
      yield { number, bytes: message.subarray(at, at + length) };
      at += length;
    } else if (wireType === 0) {
      varint();
      yield { number };
    } else if (wireType === 1) {
      at += 8;
      yield { number };
    } else throw new Error(`field ${number} has wire type ${wireType}`);
  }
}
