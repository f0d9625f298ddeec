/** What every answer says to browsers. */
import { statusResponse } from '../base/status-object.ts';

/** With a page in it. Styles may be set by scripts (the terminal does), code comes from our files alone. */
export const PAGE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

/** What every answer of the API says: it is no page, whatever is in it. */
export const ANSWER_HEADERS = {
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'cache-control': 'no-store',
};

/** What went wrong on the way to an answer of the API, for programs. */
export function failureResponse(error: unknown): Response {
  const response = statusResponse(error);
  for (const [name, value] of Object.entries(ANSWER_HEADERS)) response.headers.set(name, value);
  return response;
}

/** A sentence for whoever may not have what he asked for. */
export function refusalResponse(status: number, message: string): Response {
  const headers = { ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' };
  return new Response(`${message}\n`, { status, headers });
}
