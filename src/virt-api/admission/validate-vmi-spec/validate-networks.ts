/** Networks: a source, an interface each, and one Pod network at most. */
import type { VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { parseGuestNetwork } from '../../../qemu/convert/limits.ts';

export function validateNetworks({ networks = [], domain }: VmiSpec, path: string): StatusCause[] {
  const interfaces = domain.devices.interfaces ?? [];
  const each = networks.flatMap(({ name, pod }, index) => {
    const at = `${path}.networks[${index}]`;
    const causes = pod ? addressCauses(pod, at) : [requiredCause(at, 'a network has one source, such as pod')];
    if (!interfaces.some((card) => card.name === name)) causes.push(invalidCause(`${at}.name`, name, 'there is no interface of this name'));
    return causes;
  });
  const pods = networks.filter(({ pod }) => pod).length;
  if (pods > 1) each.push(invalidCause(`${path}.networks`, pods, 'an instance has at most one Pod network'));
  return each;
}

function addressCauses({ vmNetworkCIDR }: { readonly vmNetworkCIDR?: string }, at: string): StatusCause[] {
  if (!vmNetworkCIDR || parseGuestNetwork(vmNetworkCIDR)) return [];
  return [invalidCause(`${at}.pod.vmNetworkCIDR`, vmNetworkCIDR.slice(0, 64), 'must be an IPv4 network between /8 and /28')];
}
