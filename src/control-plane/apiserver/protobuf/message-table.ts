/** The generated table of field numbers, one message at a time: a message is read when the first body contains it. */
import { MESSAGES } from './generated/fields.ts';

export type FieldType = {
  readonly container: 'none' | 'list' | 'map';
  /** A scalar (`string`, `int`, ...), a well-known type (`time`, ...) or the name of another message. */
  readonly item: string;
};
export type Field = FieldType & {
  /** The JSON name; undefined when the fields of the message take the place of the message. */
  readonly name: string | undefined;
  /** A zero was meant: Go writes it in JSON, too. */
  readonly keepsZero: boolean;
};
export type Message =
  | { readonly form: 'fields'; readonly fields: ReadonlyMap<number, Field> }
  /** A list or map that is a message of its own: its only field is its value. */
  | { readonly form: 'items'; readonly type: FieldType };

const read = new Map<string, Message>();

/** The fields of a message by its OpenAPI name; undefined when it is in no published kind. */
export function messageNamed(name: string): Message | undefined {
  const known = read.get(name);
  if (known) return known;
  const line = Object.hasOwn(MESSAGES, name) ? MESSAGES[name] : undefined;
  if (line === undefined) return undefined;
  const message = parseLine(line, name.slice(0, name.lastIndexOf('.')));
  read.set(name, message);
  return message;
}

/** `1! name string, 2 - .VolumeSource`, or `items []string`: the generator's own format. */
function parseLine(line: string, owner: string): Message {
  if (line.startsWith('items ')) return { form: 'items', type: parseType(line.slice('items '.length), owner) };
  const fields = new Map<number, Field>();
  for (const part of line === '' ? [] : line.split(', ')) {
    const [number = '', name = '', type = ''] = part.split(' ');
    const field = { ...parseType(type, owner), name: name === '-' ? undefined : name, keepsZero: number.endsWith('!') };
    fields.set(Number.parseInt(number, 10), field);
  }
  return { form: 'fields', fields };
}

function parseType(text: string, owner: string): FieldType {
  const container = text.startsWith('[]') ? 'list' : text.startsWith('{}') ? 'map' : 'none';
  const item = container === 'none' ? text : text.slice(2);
  return { container, item: item.startsWith('.') ? owner + item : item };
}
