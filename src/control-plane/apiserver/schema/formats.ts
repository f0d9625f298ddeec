/** The `format`s that are checked. A format that is not in the table is only a hint, as in Kubernetes. */
import { isIP, isIPv4, isIPv6 } from 'node:net';
import { parseQuantity } from '../../../base/quantity.ts';

const UUID = '[0-9a-f]{8}-?[0-9a-f]{4}-?V[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}';
const uuid = (version: string) => {
  const grammar = new RegExp(`^${UUID.replace('V[0-9a-f]{3}', version)}$`, 'i');
  return (text: string) => grammar.test(text);
};
const like = (grammar: RegExp) => (text: string) => grammar.test(text);

const STRING_FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  'date-time': isDateTime,
  date: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text)),
  byte: like(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/),
  duration: like(/^[+-]?(?:0|(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h)(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))*)$/),
  ipv4: isIPv4,
  ipv6: isIPv6,
  cidr: isCidr,
  mac: like(/^[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5}$/i),
  hostname: like(/^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*\.?$/i),
  email: like(/^[^\s@<>]+@[^\s@<>]+$/),
  uri: (text) => URL.canParse(text) || /^\/[^\s]*$/.test(text),
  uuid: uuid('[0-9a-f]{4}'),
  uuid3: uuid('3[0-9a-f]{3}'),
  uuid4: uuid('4[0-9a-f]{3}'),
  uuid5: uuid('5[0-9a-f]{3}'),
  quantity: (text) => parseQuantity(text) !== undefined,
};

const INTEGER_RANGES: Readonly<Record<string, readonly [number, number]>> = {
  int32: [-(2 ** 31), 2 ** 31 - 1],
  int64: [-(2 ** 63), 2 ** 63],
};

/** True when the text is written in this format, or the format is not one that is checked. */
export function hasFormat(format: string, text: string): boolean {
  return Object.hasOwn(STRING_FORMATS, format) ? STRING_FORMATS[format]?.(text) === true : true;
}

/** The smallest and largest integer of a format. */
export function rangeOf(format: string | undefined): readonly [number, number] | undefined {
  return format !== undefined && Object.hasOwn(INTEGER_RANGES, format) ? INTEGER_RANGES[format] : undefined;
}

function isDateTime(text: string): boolean {
  const grammar = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:\d{2})$/i;
  return grammar.test(text) && !Number.isNaN(Date.parse(text.replace(',', '.')));
}

function isCidr(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const version = isIP(address);
  return rest.length === 0 && version !== 0 && /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128);
}
