/** Reads protobuf's wire format: numbered fields that are a whole number, eight bytes or a run of bytes. Whatever else is there is BadRequest. */
import { ApiError } from '../../../base/errors.ts';

export type WireField =
  | { readonly number: number; readonly wire: 'varint'; readonly value: bigint }
  | { readonly number: number; readonly wire: 'bytes'; readonly value: Uint8Array }
  | { readonly number: number; readonly wire: 'fixed'; readonly value: DataView };

/** Go's own decoder reads that many bytes of one number at most. */
const MAX_VARINT_BYTES = 10;

/** The fields of a message in the order they were written. */
export function* fieldsOf(message: Uint8Array): Generator<WireField> {
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (length > message.length - at) throw malformed('it ends inside a field');
    at += length;
    return message.subarray(at - length, at);
  };
  const varint = (): bigint => {
    let value = 0n;
    for (let i = 0; i < MAX_VARINT_BYTES; i += 1) {
      const byte = take(1)[0] ?? 0;
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    throw malformed('it has a number of more than ten bytes');
  };
  while (at < message.length) {
    const tag = Number(BigInt.asUintN(32, varint()));
    const number = tag >>> 3;
    if (number === 0) throw malformed('it has a field with the number 0');
    switch (tag & 7) {
      case 0:
        yield { number, wire: 'varint', value: varint() };
        break;
      case 1:
      case 5: {
        const { buffer, byteOffset, byteLength } = take((tag & 7) === 1 ? 8 : 4);
        yield { number, wire: 'fixed', value: new DataView(buffer, byteOffset, byteLength) };
        break;
      }
      case 2: {
        const length = varint();
        if (length > BigInt(message.length)) throw malformed('it ends inside a field');
        yield { number, wire: 'bytes', value: take(Number(length)) };
        break;
      }
      default:
        throw malformed(`its field ${number} has the unknown wire type ${tag & 7}`);
    }
  }
}

/** The refusal of a body that is not what its content type says. */
export function malformed(why: string): ApiError {
  return new ApiError('BadRequest', `the body of the request is not correct protobuf: ${why}`);
}
