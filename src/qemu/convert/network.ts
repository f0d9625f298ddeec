/** Network cards. The guest is behind the address of its Pod (masquerade, 9.3) through QEMU's own user-mode network: no privileges needed. */
import { hostnameOf } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Interface, VmiSpec } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { ConvertInput } from './input.ts';
import { macOf } from './mac.ts';
import { jsonOption, specError } from './option-text.ts';

type Vmi = ConvertInput['vmi'];

const DEVICES = { virtio: 'virtio-net-pci', e1000: 'e1000', e1000e: 'e1000e', rtl8139: 'rtl8139' } as const;
const DEFAULT_CIDR = '10.0.2.0/24';

/** A netdev and a card for each interface; virt-handler adds host forwards to netdev `net0`, `net1`, ... */
export function networkArguments(vmi: Vmi): string[] {
  return interfacesOf(vmi.spec).flatMap((card, index) => [
    ...jsonOption('-netdev', { type: 'user', id: `net${index}`, ...addresses(vmi, card), ...hostname(vmi) }),
    ...jsonOption('-device', {
      driver: DEVICES[card.model ?? 'virtio'],
      id: `nic${index}`,
      netdev: `net${index}`,
      mac: macOf(vmi, card),
      // No boot ROM: it would only cost time, nothing boots from the network here.
      romfile: '',
    }),
  ]);
}

/** The cards of an instance: those listed, or one on the Pod's network unless that is switched off. */
function interfacesOf({ domain, networks }: VmiSpec): readonly Interface[] {
  const { interfaces, autoattachPodInterface } = domain.devices;
  if (interfaces?.length) return interfaces;
  if (networks?.length || autoattachPodInterface === false) return [];
  return [{ name: 'default', masquerade: {} }];
}

/** Addresses as with masquerade: gateway first, then the guest, then the name server. */
function addresses({ spec }: Vmi, card: Interface): Record<string, unknown> {
  const field = `spec.networks[${JSON.stringify(card.name)}]`;
  const network = spec.networks?.length ? spec.networks.find(({ name }) => name === card.name) : { name: card.name, pod: {} };
  if (!network?.pod) throw specError('NETWORK_MISSING', field, 'the interface of this name needs a Pod network of the same name');
  const podNetworks = spec.networks?.filter(({ pod }) => pod) ?? [];
  if (podNetworks.length > 1 || interfacesOf(spec).length > 1)
    throw specError('NETWORK_INVALID', 'spec.networks', 'an instance has one network card, on the network of its Pod');
  const { base, prefix } = parseCidr(network.pod.vmNetworkCIDR || DEFAULT_CIDR, `${field}.pod.vmNetworkCIDR`);
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

function parseCidr(text: string, field: string): { base: number; prefix: number } {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(text);
  const [a = 256, b = 256, c = 256, d = 256, prefix = 33] = match?.slice(1).map(Number) ?? [];
  const isAddress = [a, b, c, d].every((byte) => byte <= 255);
  if (!isAddress || prefix < 8 || prefix > 28)
    throw specError('NETWORK_INVALID', field, `it must be an IPv4 network between /8 and /28, found ${JSON.stringify(text.slice(0, 64))}`);
  const size = 2 ** (32 - prefix);
  const address = ((a * 256 + b) * 256 + c) * 256 + d;
  return { base: address - (address % size), prefix };
}

function dotted(address: number): string {
  return [24, 16, 8, 0].map((shift) => (address >>> shift) & 255).join('.');
}
