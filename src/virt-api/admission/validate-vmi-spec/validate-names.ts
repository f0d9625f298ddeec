/** Names that end up in DNS or name another object. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE = 'a lowercase RFC 1123 label: letters, digits and -, at most 63 of them';
const SUBDOMAIN_RULE = 'a lowercase RFC 1123 subdomain: labels with dots between them, at most 253 characters';

const SUBDOMAINS = ['subdomain', 'priorityClassName', 'schedulerName'] as const;

/** hostname is a DNS label; the others are DNS subdomains. */
export function validateNames(spec: VmiSpec, path: string): StatusCause[] {
  const { hostname } = spec;
  const causes: StatusCause[] = [];
  if (hostname && !LABEL.test(hostname)) causes.push(invalidCause(`${path}.hostname`, hostname, `must be ${LABEL_RULE}`));
  for (const field of SUBDOMAINS) causes.push(...subdomainCauses(`${path}.${field}`, spec[field]));
  return causes;
}

/** The name of a volume ends up in the names of files and of the volumes of a Pod. */
export function dnsLabelCauses(field: string, text: string | undefined): StatusCause[] {
  return text !== undefined && !LABEL.test(text) ? [invalidCause(field, text.slice(0, 80), `must be ${LABEL_RULE}`)] : [];
}

/** A name that is not there is another rule's business. */
export function subdomainCauses(field: string, text: string | undefined): StatusCause[] {
  const isFine = !text || (text.length <= 253 && text.split('.').every((label) => LABEL.test(label)));
  return isFine ? [] : [invalidCause(field, text.slice(0, 80), `must be ${SUBDOMAIN_RULE}`)];
}
