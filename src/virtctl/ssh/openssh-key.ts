/** Ed25519 keys in the formats of OpenSSH: `openssh-key-v1` for the private one, a line of authorized_keys for the public one. Pure. */

export type Ed25519Key = {
  /** 32 bytes that are the private key. */
  readonly seed: Uint8Array;
  /** 32 bytes. */
  readonly publicKey: Uint8Array;
  readonly comment: string;
};

const MAGIC = 'openssh-key-v1\0';
const TYPE = 'ssh-ed25519';
const BEGIN = '-----BEGIN OPENSSH PRIVATE KEY-----';
const END = '-----END OPENSSH PRIVATE KEY-----';
const COLUMNS = 70;
/** Without a cipher the private part is filled up to this. */
const BLOCK_BYTES = 8;
/** A key of ours has fewer than 500; what is longer is something else. */
const MOST_CHARACTERS = 16_384;

/** The private key as ssh reads it, without a passphrase. `check` is any number: a reader sees by it that it deciphered rightly. */
export function formatPrivateKey({ seed, publicKey, comment }: Ed25519Key, check: number): string {
  const whole = Buffer.concat([
    Buffer.from(MAGIC),
    ...[field('none'), field('none'), field('')], // cipher, derivation of its key, options of that
    number(1), // how many keys
    field(publicBlob(publicKey)),
    field(filledUp(privatePart({ seed, publicKey, comment }, check))),
  ]);
  const lines = whole.toString('base64').match(new RegExp(`.{1,${COLUMNS}}`, 'g')) ?? [];
  return `${[BEGIN, ...lines, END].join('\n')}\n`;
}

/** The line for authorized_keys. */
export function formatPublicKey({ publicKey, comment }: Omit<Ed25519Key, 'seed'>): string {
  return `${TYPE} ${publicBlob(publicKey).toString('base64')} ${comment}`;
}

/** The public key in a private one, without its comment; undefined when it is not an Ed25519 key in this format. */
export function publicKeyIn(text: string): Uint8Array | undefined {
  const body = text.trim();
  if (text.length > MOST_CHARACTERS || !body.startsWith(BEGIN) || !body.endsWith(END)) return undefined;
  const bytes = Buffer.from(body.slice(BEGIN.length, -END.length), 'base64');
  if (!bytes.subarray(0, MAGIC.length).equals(Buffer.from(MAGIC))) return undefined;
  const [, , options] = fieldsFrom(bytes, { at: MAGIC.length, count: 3 });
  const [blob] = fieldsFrom(bytes, { at: (options?.end ?? bytes.length) + 4, count: 1 }); // behind how many keys there are
  const [type, key] = fieldsFrom(blob?.content ?? Buffer.alloc(0), { at: 0, count: 2 });
  return type?.content.toString() === TYPE && key?.content.length === 32 ? key.content : undefined;
}

type Field = { readonly content: Buffer; readonly end: number };

/** As many of them as there are, up to `count`. */
function fieldsFrom(bytes: Buffer, { at, count }: { readonly at: number; readonly count: number }): Field[] {
  const found: Field[] = [];
  for (let begin = at; found.length < count && begin + 4 <= bytes.length; ) {
    const end = begin + 4 + bytes.readUInt32BE(begin);
    if (end > bytes.length) break;
    found.push({ content: bytes.subarray(begin + 4, end), end });
    begin = end;
  }
  return found;
}

function publicBlob(publicKey: Uint8Array): Buffer {
  return Buffer.concat([field(TYPE), field(publicKey)]);
}

function privatePart({ seed, publicKey, comment }: Ed25519Key, check: number): Buffer {
  return Buffer.concat([
    ...[number(check), number(check)],
    ...[field(TYPE), field(publicKey), field(Buffer.concat([seed, publicKey])), field(comment)],
  ]);
}

/** With 1, 2, 3 ... behind it. */
function filledUp(bytes: Buffer): Buffer {
  const missing = (BLOCK_BYTES - (bytes.length % BLOCK_BYTES)) % BLOCK_BYTES;
  return Buffer.concat([bytes, Uint8Array.from({ length: missing }, (_, index) => index + 1)]);
}

/** As many bytes as the number before them says. */
function field(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([number(bytes.length), bytes]);
}

function number(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}
