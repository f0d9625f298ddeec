/** Networks: a name of their own, exactly one source, one interface each, and one Pod network at most. */
import { duplicateCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedNetwork, CheckedSpec } from './checked-spec.ts';

const SOURCES = ['pod', 'multus', 'resourceClaim'] as const;

export function validateNetworks({ networks = [], domain }: CheckedSpec, path: string): StatusCause[] {
  const interfaces = domain?.devices?.interfaces ?? [];
  const each = networks.flatMap((network, index) => {
    const at = `${path}.networks[${index}]`;
    const causes = sourceCauses(network, at);
    if (networks.findIndex(({ name }) => name === network.name) !== index) causes.push(duplicateCause(`${at}.name`, network.name));
    if (!interfaces.some(({ name }) => name === network.name))
      causes.push(invalidCause(`${at}.name`, network.name, 'there is no interface of this name'));
    return causes;
  });
  const pods = networks.filter(({ pod }) => pod).length;
  const defaults = networks.filter(({ multus }) => multus?.default).length;
  if (pods > 1) each.push(invalidCause(`${path}.networks`, pods, 'an instance has at most one Pod network'));
  if (defaults > 1) each.push(invalidCause(`${path}.networks`, defaults, 'only one multus network can be the default'));
  if (defaults > 0 && pods > 0)
    each.push(invalidCause(`${path}.networks`, defaults, 'a default multus network takes the place of the Pod network'));
  return each;
}

function sourceCauses({ pod, multus, ...network }: CheckedNetwork, at: string): StatusCause[] {
  const given = SOURCES.filter((source) => ({ pod, multus, ...network })[source] !== undefined);
  if (given.length === 0) return [requiredCause(at, 'a network has one source, such as pod')];
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a network has only one source')];
  const causes: StatusCause[] = [];
  if (multus && !multus.networkName) causes.push(requiredCause(`${at}.multus.networkName`, 'the network attachment definition'));
  if (pod?.vmNetworkCIDR && !isNetwork(pod.vmNetworkCIDR))
    causes.push(invalidCause(`${at}.pod.vmNetworkCIDR`, pod.vmNetworkCIDR.slice(0, 64), 'must be an IPv4 network between /8 and /28'));
  return causes;
}

function isNetwork(text: string): boolean {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  const [prefix = 0, ...bytes] = match?.slice(1).map(Number).reverse() ?? [];
  return match !== null && bytes.every((byte) => byte <= 255) && prefix >= 8 && prefix <= 28;
}
