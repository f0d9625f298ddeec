/** As much of the DNS wire format (RFC 1035) as a server of addresses needs: one question in, one answer out. */

export const TYPE_A = 1;
const CLASS_IN = 1;
const TTL_SECONDS = 5;
const HEADER_BYTES = 12;
/** What fits into a datagram that nobody has agreed on a larger size for. */
const DATAGRAM_BYTES = 512;
const CODES = { ok: 0, malformed: 1, unknown: 3, 'not supported': 4 } as const;

export type Question = { readonly name: string; readonly type: number; readonly class: number; readonly end: number };
/** Undefined is a name that does not exist; an empty list one that has no address. */
export type Lookup = (name: string) => readonly string[] | undefined;

/** The answer to a message, or undefined when it is too broken to be answered at all. */
export function answer(message: Buffer, lookup: Lookup, over: 'udp' | 'tcp'): Buffer | undefined {
  if (message.length < HEADER_BYTES || (message[2] ?? 0) & 0x80) return undefined; // not a question
  const isPlainQuery = ((message[2] ?? 0) & 0x78) === 0;
  if (!isPlainQuery) return reply(message, undefined, 'not supported', []);
  const question = message.readUInt16BE(4) === 1 ? readQuestion(message) : undefined;
  if (!question) return reply(message, undefined, 'malformed', []);
  const found = question.class === CLASS_IN ? lookup(question.name) : undefined;
  const addresses = question.type === TYPE_A ? (found ?? []) : [];
  const full = reply(message, question, found ? 'ok' : 'unknown', addresses);
  return over === 'udp' && full.length > DATAGRAM_BYTES ? cutShort(reply(message, question, 'ok', [])) : full;
}

/** The first question; undefined when its name runs over the end or is compressed, which no question is. */
export function readQuestion(message: Buffer): Question | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = message[at];
    if (length === undefined || length > 63) return undefined;
    at++;
    if (length === 0) break;
    if (at + length > message.length) return undefined;
    labels.push(message.toString('latin1', at, at + length));
    at += length;
  }
  if (at + 4 > message.length) return undefined;
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(at), class: message.readUInt16BE(at + 2), end: at + 4 };
}

function reply(message: Buffer, question: Question | undefined, code: keyof typeof CODES, addresses: readonly string[]): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  message.copy(header, 0, 0, 2);
  header[2] = 0x84 | ((message[2] ?? 0) & 0x79); // an answer, with authority; operation and "recursion desired" as asked
  header[3] = 0x80 | CODES[code]; // "recursion available": nobody else needs to be asked
  header.writeUInt16BE(question ? 1 : 0, 4);
  header.writeUInt16BE(addresses.length, 6);
  const asked = question ? message.subarray(HEADER_BYTES, question.end) : Buffer.alloc(0);
  return Buffer.concat([header, asked, ...addresses.map(addressRecord)]);
}

/** Its name is a pointer to the one in the question. */
function addressRecord(address: string): Buffer {
  const record = Buffer.from([0xc0, HEADER_BYTES, 0, TYPE_A, 0, CLASS_IN, 0, 0, 0, TTL_SECONDS, 0, 4]);
  return Buffer.concat([record, Buffer.from(address.split('.').map(Number))]);
}

/** Says that there is more, which makes the client ask again over TCP. */
function cutShort(message: Buffer): Buffer {
  message[2] = (message[2] ?? 0) | 0x02;
  return message;
}
