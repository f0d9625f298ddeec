/** Names that end up in DNS, in paths, or name another object. */
import { invalidCause } from './causes.ts';
import type { StatusCause } from './errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE = 'a lowercase RFC 1123 label: letters, digits and -, at most 63 of them';
const SUBDOMAIN_RULE = 'a lowercase RFC 1123 subdomain: labels with dots between them, at most 253 characters';

/** Why a text is no DNS label. A name that is not there is another rule's business. */
export function dnsLabelCauses(field: string, text: string | undefined): StatusCause[] {
  return text !== undefined && !LABEL.test(text) ? [invalidCause(field, text.slice(0, 80), `must be ${LABEL_RULE}`)] : [];
}

/** Why a text is no DNS subdomain; an empty one is none. */
export function subdomainCauses(field: string, text: string | undefined): StatusCause[] {
  const isFine = !text || (text.length <= 253 && text.split('.').every((label) => LABEL.test(label)));
  return isFine ? [] : [invalidCause(field, text.slice(0, 80), `must be ${SUBDOMAIN_RULE}`)];
}
