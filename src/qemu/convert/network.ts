/** Network cards. The guest is behind the address of its Pod (masquerade) through QEMU's own user-mode network: no privileges needed. */
import { hostnameOf } from '../../api/kubevirt/hostname.ts';
import type { Interface } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { ConvertInput } from './input.ts';
import { parseGuestNetwork } from './limits.ts';
import { macOf } from './mac.ts';
import type { Part } from './machine-model.ts';
import { specError } from './option-text.ts';
import { card, interfacesOf, type RootBus } from './root-bus.ts';

type Vmi = ConvertInput['vmi'];

const DRIVERS = { virtio: 'virtio-net-pci', e1000: 'e1000', e1000e: 'e1000e', rtl8139: 'rtl8139' } as const;
const DEFAULT_CIDR = '10.0.2.0/24';

/** A netdev and a card for each interface; virt-handler forwards ports to the first, which is on the Pod's network. */
export function networkParts({ vmi, host }: Pick<ConvertInput, 'vmi' | 'host'>, rootBus: RootBus): Part[] {
  return interfacesOf(vmi.spec).flatMap((nic, index) => [
    {
      part: 'netdev',
      id: `net${index}`,
      type: 'user',
      properties: { ...addresses(vmi, nic), ...hostname(vmi), ...search(host.searchDomains), ...(host.isClosed && { restrict: true }) },
    },
    ...card(rootBus, cardIdOf(index), DRIVERS[nic.model ?? 'virtio'], {
      netdev: `net${index}`,
      mac: macOf(vmi, nic),
      // No boot ROM for a card that is not booted from: it would only cost time.
      romfile: nic.bootOrder === undefined ? '' : `pxe-${nic.model ?? 'virtio'}.rom`,
      ...(nic.bootOrder !== undefined && { bootindex: nic.bootOrder }),
      ...(nic.acpiIndex !== undefined && { 'acpi-index': nic.acpiIndex }),
    }),
  ]);
}

/** How QEMU knows the card of an interface. */
export function cardIdOf(index: number): string {
  return `nic${index}`;
}

export type PodCard = { readonly mac: string; readonly gateway: string; readonly guest: string };

/** How the card on the Pod's network and its two ends are addressed inside; undefined for a guest without one. */
export function podCardOf(vmi: Vmi): PodCard | undefined {
  const [nic] = interfacesOf(vmi.spec);
  if (!nic) return undefined;
  const { host, dhcpstart } = addresses(vmi, nic);
  return { mac: macOf(vmi, nic), gateway: host, guest: dhcpstart };
}

/** Addresses as with masquerade: gateway first, then the guest, then the name server. */
function addresses({ spec }: Vmi, nic: Interface) {
  const field = `spec.networks[${JSON.stringify(nic.name)}]`;
  const network = spec.networks?.length ? spec.networks.find(({ name }) => name === nic.name) : { name: nic.name, pod: {} };
  if (!network?.pod) throw specError('NETWORK_MISSING', field, 'the interface of this name needs a Pod network of the same name');
  const podNetworks = spec.networks?.filter(({ pod }) => pod) ?? [];
  if (podNetworks.length > 1 || interfacesOf(spec).length > 1)
    throw specError('NETWORK_INVALID', 'spec.networks', 'an instance has one network card, on the network of its Pod');
  const { base, prefix } = guestNetwork(network.pod.vmNetworkCIDR || DEFAULT_CIDR, `${field}.pod.vmNetworkCIDR`);
  return {
    net: `${dotted(base)}/${prefix}`,
    host: dotted(base + 1),
    dhcpstart: dotted(base + 2),
    dns: dotted(base + 3),
    ipv6: false,
  };
}

function hostname(vmi: Vmi): Record<string, unknown> {
  const name = hostnameOf(vmi);
  // DHCP can carry a DNS label and nothing else; admission refuses the rest, and a guest without a name still boots.
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i.test(name) ? { hostname: name } : {};
}

/** By DHCP: the list, and the first for guests that know one domain only. */
function search(domains: readonly string[] = []): Record<string, unknown> {
  const [first] = domains;
  return first === undefined ? {} : { domainname: first, dnssearch: domains.map((str) => ({ str })) };
}

function guestNetwork(text: string, field: string): { readonly base: number; readonly prefix: number } {
  const network = parseGuestNetwork(text);
  if (network) return network;
  throw specError('NETWORK_INVALID', field, `it must be an IPv4 network between /8 and /28, found ${JSON.stringify(text.slice(0, 64))}`);
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}
