/** Addresses that a Service or its endpoints may not have: of the node itself and of its links, where others answer than the Pods of a tenant. */
import { BlockList, isIP } from 'node:net';
import { invalidCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';

const SPECIAL: readonly [range: string, blocked: BlockList][] = [
  ['unspecified (0.0.0.0, ::)', blocked(['0.0.0.0', 32], ['::', 128])],
  ['in the loopback range (127.0.0.0/8, ::1/128)', blocked(['127.0.0.0', 8], ['::1', 128])],
  ['in the link-local range (169.254.0.0/16, fe80::/10)', blocked(['169.254.0.0', 16], ['fe80::', 10])],
  ['in the link-local multicast range (224.0.0.0/24, ff02::/10)', blocked(['224.0.0.0', 24], ['ff02::', 16])],
];

/** Why this is no address of an endpoint. */
export function specialAddressCauses(field: string, address: string): StatusCause[] {
  const family = isIP(address);
  if (family === 0) return [invalidCause(field, address, 'must be a valid IP address')];
  const found = SPECIAL.find(([, list]) => list.check(address, family === 4 ? 'ipv4' : 'ipv6'));
  return found ? [invalidCause(field, address, `may not be ${found[0]}`)] : [];
}

/** With the IPv6 spelling of those of IPv4. */
function blocked([ipv4, bits]: readonly [string, number], [ipv6, bits6]: readonly [string, number]): BlockList {
  const list = new BlockList();
  list.addSubnet(ipv4, bits, 'ipv4');
  list.addSubnet(`::ffff:${ipv4}`, 96 + bits, 'ipv6');
  list.addSubnet(ipv6, bits6, 'ipv6');
  return list;
}
