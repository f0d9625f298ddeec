/** Network cards: each plugged into a network of its name, in exactly one way, with a usable address and ports. */
import { MOST_PORTS } from '../../../api/kubevirt/vmi-size.ts';
import type { Interface, VmiSpec } from '../../../api/kubevirt/vmi-spec-schema.ts';
import { duplicateCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isUnicastMac } from '../../../qemu/convert/limits.ts';

type Network = NonNullable<VmiSpec['networks']>[number];

/** The bridge inside the Pod has it. */
const RESERVED_MAC = '02:00:00:00:00:00';

const TOO_MANY_PORTS = `have more than ${MOST_PORTS} ports, each of which would be held open; without ports and portRanges those that are asked for are open`;

export function validateInterfaces({ networks = [], domain }: VmiSpec, path: string): StatusCause[] {
  const cards = domain.devices.interfaces ?? [];
  return cards.flatMap((card, index) => {
    const at = `${path}.domain.devices.interfaces[${index}]`;
    const network = networks.find(({ name }) => name === card.name);
    const causes: StatusCause[] = [];
    if (!/^[A-Za-z0-9_-]+$/.test(card.name)) causes.push(invalidCause(`${at}.name`, card.name, 'consists of letters, digits, - and _'));
    if (!network) causes.push(invalidCause(`${at}.name`, card.name, 'there is no network of this name'));
    return [...causes, ...bindingCauses(card, network, at), ...macCauses(card, at), ...openCauses(card, at)];
  });
}

function bindingCauses({ bridge, masquerade }: Interface, network: Network | undefined, at: string): StatusCause[] {
  if (!bridge && !masquerade) return [requiredCause(at, 'a card is plugged in one way, such as masquerade')];
  if (bridge && masquerade) return [invalidCause(at, 'bridge, masquerade', 'a card is plugged in only one way')];
  return masquerade && network && !network.pod ? [invalidCause(`${at}.masquerade`, {}, 'is only possible on the Pod network')] : [];
}

function macCauses({ macAddress, masquerade }: Interface, at: string): StatusCause[] {
  if (!macAddress) return [];
  const field = `${at}.macAddress`;
  if (!isUnicastMac(macAddress))
    return [invalidCause(field, macAddress.slice(0, 64), 'must be a unicast address such as 02:11:22:33:44:55')];
  const isReserved = masquerade && macAddress.replaceAll('-', ':') === RESERVED_MAC;
  return isReserved ? [invalidCause(field, macAddress, 'is reserved for the bridge inside the Pod')] : [];
}

/** Ports that are too many are not looked at one by one. */
function openCauses(card: Interface, at: string): StatusCause[] {
  const { ports = [] } = card;
  if (ports.length > MOST_PORTS) return [invalidCause(`${at}.ports`, ports.length, TOO_MANY_PORTS)];
  return [...portCauses(card, at), ...rangeCauses(card, at)];
}

function rangeCauses({ ports = [], portRanges = [] }: Interface, at: string): StatusCause[] {
  const causes = portRanges.flatMap(({ start, end = start }, index) =>
    end < start ? [invalidCause(`${at}.portRanges[${index}].end`, end, `must be at least the first port, ${start}`)] : [],
  );
  const count = portRanges.reduce((sum, { start, end = start }) => sum + end - start + 1, ports.length);
  return causes.length > 0 || count <= MOST_PORTS ? causes : [invalidCause(`${at}.portRanges`, count, TOO_MANY_PORTS)];
}

function portCauses({ ports = [] }: Interface, at: string): StatusCause[] {
  const known = new Set<string>();
  return ports.flatMap(({ name }, index) => {
    const field = `${at}.ports[${index}]`;
    const causes: StatusCause[] = [];
    if (name && !/^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
      causes.push(
        invalidCause(`${field}.name`, name.slice(0, 64), 'must be at most 15 lowercase letters, digits and -, with a letter among them'),
      );
    if (name && known.has(name)) causes.push(duplicateCause(`${field}.name`, name));
    if (name) known.add(name);
    return causes;
  });
}
