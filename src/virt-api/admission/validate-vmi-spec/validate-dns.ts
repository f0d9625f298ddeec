/** Name resolution inside the Pod, by the rules of Pods. */
import { invalidCause, requiredCause, tooManyCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedSpec } from './checked-spec.ts';
import { isIpv4 } from './validate-interfaces.ts';

const MOST_SERVERS = 3;
const MOST_SEARCHES = 6;
const MOST_SEARCH_CHARACTERS = 256;

export function validateDns({ dnsPolicy, dnsConfig }: CheckedSpec, path: string): StatusCause[] {
  const { nameservers = [], searches = [] } = dnsConfig ?? {};
  const at = `${path}.dnsConfig`;
  const causes: StatusCause[] = [];
  if (dnsPolicy === 'None' && nameservers.length === 0)
    causes.push(requiredCause(`${at}.nameservers`, 'dnsPolicy None needs at least one name server'));
  if (nameservers.length > MOST_SERVERS) causes.push(tooManyCause(`${at}.nameservers`, nameservers.length, MOST_SERVERS));
  nameservers.forEach((server, index) => {
    if (!isIpv4(server) && !/^[0-9a-f:.]*:[0-9a-f:.]*$/i.test(server))
      causes.push(invalidCause(`${at}.nameservers[${index}]`, server, 'must be an IP address'));
  });
  if (searches.length > MOST_SEARCHES) causes.push(tooManyCause(`${at}.searches`, searches.length, MOST_SEARCHES));
  if (searches.join(' ').length > MOST_SEARCH_CHARACTERS)
    causes.push(invalidCause(`${at}.searches`, searches.length, `must have at most ${MOST_SEARCH_CHARACTERS} characters in all`));
  return causes;
}
