/** What an aggregated server is told of the caller. It believes these headers because of the certificate they come with, so none of them may come from outside. */
import type { Identity } from '../transport/identity.ts';

type HeaderRecord = Record<string, string | readonly string[]>;

/** Never passed on: credentials were used up at the front, claims are ours alone, and the connection is a new one. */
const WITHHELD =
  /^(authorization|cookie|host|x-remote-.*|impersonate-.*|connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|http2-settings)$/i;

/** The headers of the request as the aggregated server gets them. */
export function remoteHeaders(headers: Iterable<readonly [string, string]>, identity: Identity): HeaderRecord {
  const result: HeaderRecord = {};
  for (const [name, value] of headers) if (!WITHHELD.test(name)) result[name] = value;
  result['X-Remote-User'] = headerValue(identity.user);
  if (identity.uid !== undefined) result['X-Remote-Uid'] = headerValue(identity.uid);
  if (identity.groups.length > 0) result['X-Remote-Group'] = identity.groups.map(headerValue);
  for (const [key, values] of Object.entries(identity.extra ?? {})) {
    result[`X-Remote-Extra-${encodeURIComponent(key)}`] = values.map(headerValue);
  }
  return result;
}

/** Headers carry bytes; names of people may hold any character. A line break would be a second header and is refused by Node. */
function headerValue(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
