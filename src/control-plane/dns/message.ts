/**
 * DNS messages (RFC 1035, EDNS of RFC 6891), as far as a name server of a cluster needs them. What comes in is read with bounds: one question, names
 * without pointers in it, and in answers of others pointers that lead backwards only.
 */

export const TYPE = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, TXT: 16, AAAA: 28, SRV: 33, OPT: 41, ANY: 255 } as const;
export const RCODE = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

export type Question = {
  /** In small letters, without the last dot. */
  readonly name: string;
  readonly type: number;
  readonly class: number;
  /** As it was sent, to be sent back: resolvers compare. */
  readonly bytes: Buffer;
};
export type Query = {
  readonly id: number;
  readonly opcode: number;
  readonly isRecursionDesired: boolean;
  /** What the client can take in a datagram; undefined without EDNS. */
  readonly payloadBytes: number | undefined;
  readonly question: Question;
};
export type ResourceRecord = { readonly name: string; readonly type: number; readonly ttl: number; readonly data: Buffer };
export type Answer = {
  readonly rcode: number;
  readonly isAuthoritative: boolean;
  readonly answers: readonly ResourceRecord[];
  readonly authority?: readonly ResourceRecord[];
  readonly additional?: readonly ResourceRecord[];
};

const HEADER_BYTES = 12;
const MAX_NAME_BYTES = 255;
const MAX_LABEL_BYTES = 63;
const MAX_RECORDS = 64;
const MAX_POINTERS = 16;
const CLASS_IN = 1;
/** Without EDNS nobody takes more. */
const PLAIN_BYTES = 512;
/** What passes every path in one piece: more is asked for by TCP. */
const EDNS_BYTES = 1232;

/** Something in it is not as it must be; `id` is known when there was enough of it to answer. */
export type Malformed = { readonly malformed: string; readonly id?: number };

/** Reads a query; undefined for what must not be answered at all: an answer, or less than a header. */
export function parseQuery(message: Buffer): Query | Malformed | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const flags = message.readUInt16BE(2);
  if (flags & 0x8000) return undefined; // two name servers that answer answers would never stop
  const id = message.readUInt16BE(0);
  const [questions, answers, authorities, additional] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at)) as [
    number,
    number,
    number,
    number,
  ];
  const opcode = (flags >>> 11) & 15;
  if (questions !== 1) return { malformed: 'one question is answered at a time', id };
  if (answers + authorities + additional > MAX_RECORDS) return { malformed: 'too many records for a question', id };
  try {
    const { name, next } = readName(message, HEADER_BYTES, { mayPoint: false });
    const [type, klass] = [message.readUInt16BE(next), message.readUInt16BE(next + 2)];
    const question = { name, type, class: klass, bytes: message.subarray(HEADER_BYTES, next + 4) };
    const payloadBytes = payloadOf(message, next + 4, answers + authorities + additional);
    return { id, opcode, isRecursionDesired: (flags & 0x0100) !== 0, payloadBytes, question };
  } catch (error) {
    return { malformed: (error as Error).message, id };
  }
}

function payloadOf(message: Buffer, from: number, count: number): number | undefined {
  let at = from;
  for (let index = 0; index < count; index++) {
    const { next } = readName(message, at, { mayPoint: true });
    const type = message.readUInt16BE(next);
    if (type === TYPE.OPT) return Math.max(PLAIN_BYTES, message.readUInt16BE(next + 2));
    at = next + 10 + message.readUInt16BE(next + 8);
    if (at > message.length) throw new Error('a record goes beyond the end');
  }
  return undefined;
}

/** A name and where it ends. Each pointer leads to before the last one, so there is no loop, and no more of them than makes sense. */
function readName(message: Buffer, from: number, { mayPoint }: { readonly mayPoint: boolean }): { name: string; next: number } {
  const labels: string[] = [];
  let at = from;
  let lowest = from;
  let next: number | undefined;
  let bytes = 1;
  for (let pointers = 0; ; ) {
    const length = message.readUInt8(at);
    if (length === 0) break;
    if (length >= 0xc0) {
      const to = message.readUInt16BE(at) & 0x3fff;
      if (!mayPoint || to >= lowest || ++pointers > MAX_POINTERS) throw new Error('a name points where it must not');
      next ??= at + 2;
      lowest = to;
      at = to;
      continue;
    }
    bytes += length + 1;
    if (length > MAX_LABEL_BYTES || bytes > MAX_NAME_BYTES || at + 1 + length > message.length) throw new Error('a name is too long');
    labels.push(message.toString('latin1', at + 1, at + 1 + length).toLowerCase());
    at += 1 + length;
  }
  // A dot inside of a label would make another name of it.
  const name = labels.map((label) => label.replaceAll('.', '\\.')).join('.');
  return { name, next: next ?? at + 1 };
}

/** A name as it is sent. */
export function nameBytes(name: string): Buffer {
  const labels = name === '' ? [] : name.split('.');
  const parts = labels.flatMap((label) => [Buffer.from([label.length]), Buffer.from(label, 'latin1')]);
  return Buffer.concat([...parts, Buffer.from([0])]);
}

/** Whether it can be sent as a name: what users write into objects need not be one. */
export function isDomainName(name: string): boolean {
  return (
    name.length > 0 &&
    name.length < MAX_NAME_BYTES - 1 &&
    name.split('.').every((label) => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(label))
  );
}

/** How long an answer to this query may be in a datagram. */
export function datagramBytes({ payloadBytes }: Query): number {
  return payloadBytes === undefined ? PLAIN_BYTES : Math.min(payloadBytes, EDNS_BYTES);
}

/** The answer as it is sent; one that is too long says so and has nothing in it: it is asked for again by TCP. */
export function encodeAnswer(query: Query, answer: Answer, maxBytes: number): Buffer {
  const whole = encode(query, answer, false);
  return whole.length <= maxBytes ? whole : encode(query, { ...answer, answers: [], authority: [], additional: [] }, true);
}

function encode(query: Query, answer: Answer, isTruncated: boolean): Buffer {
  const { answers, authority = [], additional = [] } = answer;
  const edns = query.payloadBytes === undefined ? [] : [optRecord()];
  const recursion = (query.isRecursionDesired ? 0x0100 : 0) | 0x0080;
  const flags =
    0x8000 | (query.opcode << 11) | (answer.isAuthoritative ? 0x0400 : 0) | (isTruncated ? 0x0200 : 0) | recursion | answer.rcode;
  const counts = [1, answers.length, authority.length, additional.length + edns.length];
  const records = [...answers, ...authority, ...additional].map((record) => recordBytes(record, query.question.name));
  return Buffer.concat([header(query.id, flags, counts), query.question.bytes, ...records, ...edns]);
}

/** What is said to a query that cannot be read: nothing but that. */
export function encodeRefusal(id: number, rcode: number): Buffer {
  return header(id, 0x8000 | rcode, [0, 0, 0, 0]);
}

/** A clean question to another name server; nothing of what the client sent beside it is passed on. */
export function encodeQuestion(id: number, name: string, type: number): Buffer {
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(type, 0);
  tail.writeUInt16BE(CLASS_IN, 2);
  return Buffer.concat([header(id, 0x0100, [1, 0, 0, 1]), nameBytes(name), tail, optRecord()]);
}

export type Reply = {
  readonly id: number;
  readonly rcode: number;
  readonly question: Question | undefined;
  readonly records: readonly ResourceRecord[];
};

/** Reads what another name server answered: its first section alone; undefined when it makes no sense. */
export function parseReply(message: Buffer): Reply | undefined {
  if (message.length < HEADER_BYTES) return undefined;
  const flags = message.readUInt16BE(2);
  const [questions, count] = [message.readUInt16BE(4), message.readUInt16BE(6)];
  if (!(flags & 0x8000) || questions !== 1 || count > MAX_RECORDS) return undefined;
  try {
    const { name, next } = readName(message, HEADER_BYTES, { mayPoint: false });
    const question = {
      name,
      type: message.readUInt16BE(next),
      class: message.readUInt16BE(next + 2),
      bytes: message.subarray(HEADER_BYTES, next + 4),
    };
    return { id: message.readUInt16BE(0), rcode: flags & 15, question, records: readRecords(message, next + 4, count) };
  } catch {
    return undefined;
  }
}

function readRecords(message: Buffer, from: number, count: number): ResourceRecord[] {
  const records: ResourceRecord[] = [];
  let at = from;
  for (let index = 0; index < count; index++) {
    const { name, next } = readName(message, at, { mayPoint: true });
    const [type, ttl, length] = [message.readUInt16BE(next), message.readUInt32BE(next + 4), message.readUInt16BE(next + 8)];
    const start = next + 10;
    at = start + length;
    if (at > message.length) throw new Error('a record goes beyond the end');
    records.push({ name, type, ttl, data: dataOf(message, type, { start, end: at }) });
  }
  return records;
}

/** Names inside of data are written out, for pointers mean nothing in another message. */
function dataOf(message: Buffer, type: number, { start, end }: { readonly start: number; readonly end: number }): Buffer {
  if (type !== TYPE.CNAME && type !== TYPE.PTR && type !== TYPE.NS) return Buffer.from(message.subarray(start, end));
  return nameBytes(readName(message, start, { mayPoint: true }).name);
}

function header(id: number, flags: number, counts: readonly number[]): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  [id, flags, ...counts].forEach((value, index) => {
    bytes.writeUInt16BE(value, index * 2);
  });
  return bytes;
}

/** The name of the question is where every message has it, and is pointed to. */
function recordBytes({ name, type, ttl, data }: ResourceRecord, asked: string): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(CLASS_IN, 2);
  fixed.writeUInt32BE(ttl, 4);
  fixed.writeUInt16BE(data.length, 8);
  return Buffer.concat([name === asked ? Buffer.from([0xc0, HEADER_BYTES]) : nameBytes(name), fixed, data]);
}

function optRecord(): Buffer {
  const bytes = Buffer.alloc(11);
  bytes.writeUInt16BE(TYPE.OPT, 1);
  bytes.writeUInt16BE(EDNS_BYTES, 3);
  return bytes;
}
