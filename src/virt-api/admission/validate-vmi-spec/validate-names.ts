/** Names that end up in DNS or name another object. */
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const LABEL_RULE = 'a lowercase RFC 1123 label: letters, digits and -, at most 63 of them';
const SUBDOMAIN_RULE = 'a lowercase RFC 1123 subdomain: labels with dots between them, at most 253 characters';

/** hostname is a DNS label; subdomain and serviceAccountName are DNS subdomains, and a serviceAccount volume must name the same account. */
export function validateNames(spec: CheckedSpec, path: string): StatusCause[] {
  const { hostname, subdomain, serviceAccountName, volumes = [] } = spec;
  const causes: StatusCause[] = [];
  if (hostname && !LABEL.test(hostname)) causes.push(invalidCause(`${path}.hostname`, hostname, `must be ${LABEL_RULE}`));
  if (subdomain && !isSubdomain(subdomain)) causes.push(invalidCause(`${path}.subdomain`, subdomain, `must be ${SUBDOMAIN_RULE}`));
  if (serviceAccountName && !isSubdomain(serviceAccountName))
    causes.push(invalidCause(`${path}.serviceAccountName`, serviceAccountName, `must be ${SUBDOMAIN_RULE}`));
  volumes.forEach(({ serviceAccount }, index) => {
    if (!serviceAccount) return;
    const field = `${path}.volumes[${index}].serviceAccount.serviceAccountName`;
    const name = serviceAccount.serviceAccountName;
    if (!name) causes.push(requiredCause(field, 'the account whose token is shown'));
    else if (serviceAccountName && name !== serviceAccountName)
      causes.push(invalidCause(field, name, `must be the same as ${path}.serviceAccountName, ${JSON.stringify(serviceAccountName)}`));
  });
  return causes;
}

function isSubdomain(text: string): boolean {
  return text.length <= 253 && text.split('.').every((label) => LABEL.test(label));
}
