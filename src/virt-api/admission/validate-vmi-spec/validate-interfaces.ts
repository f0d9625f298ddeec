/** Network cards: each plugged into a network of its name, in exactly one way, with a usable address and ports. */
import { duplicateCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { CheckedInterface, CheckedNetwork, CheckedSpec } from './checked-spec.ts';

const BINDINGS = ['bridge', 'masquerade', 'sriov', 'passtBinding', 'binding'] as const;
const GONE = ['slirp', 'macvtap', 'passt'] as const;
const MAC = /^[0-9a-f]{2}([:-])[0-9a-f]{2}(\1[0-9a-f]{2}){4}$/i;
/** The bridge inside the Pod has it. */
const RESERVED_MAC = '02:00:00:00:00:00';

export function validateInterfaces({ networks = [], domain }: CheckedSpec, path: string): StatusCause[] {
  const cards = domain?.devices?.interfaces ?? [];
  return cards.flatMap((card, index) => {
    const at = `${path}.domain.devices.interfaces[${index}]`;
    const network = networks.find(({ name }) => name === card.name);
    const causes: StatusCause[] = [];
    if (!/^[A-Za-z0-9_-]+$/.test(card.name)) causes.push(invalidCause(`${at}.name`, card.name, 'consists of letters, digits, - and _'));
    if (cards.findIndex(({ name }) => name === card.name) !== index) causes.push(duplicateCause(`${at}.name`, card.name));
    if (!network) causes.push(invalidCause(`${at}.name`, card.name, 'there is no network of this name'));
    return [
      ...causes,
      ...bindingCauses(card, network, at),
      ...macCauses(card, at),
      ...stateCauses(card, network, at),
      ...portCauses(card, at),
      ...dhcpCauses(card, at),
    ];
  });
}

function bindingCauses(card: CheckedInterface, network: CheckedNetwork | undefined, at: string): StatusCause[] {
  const gone = GONE.filter((binding) => card[binding]).map((binding) =>
    invalidCause(`${at}.${binding}`, {}, 'this binding is discontinued; use masquerade'),
  );
  const given = BINDINGS.filter((binding) => card[binding]);
  if (gone.length > 0) return gone;
  if (given.length === 0) return [requiredCause(at, 'a card is plugged in one way, such as masquerade')];
  if (given.length > 1) return [invalidCause(at, given.join(', '), 'a card is plugged in only one way')];
  const isPodOnly = card.masquerade ?? card.passtBinding;
  return isPodOnly && network && !network.pod ? [invalidCause(`${at}.${given[0]}`, {}, 'is only possible on the Pod network')] : [];
}

function macCauses({ macAddress, masquerade }: CheckedInterface, at: string): StatusCause[] {
  if (!macAddress) return [];
  const field = `${at}.macAddress`;
  const isGroup = Number.parseInt(macAddress.slice(0, 2), 16) & 1;
  if (!MAC.test(macAddress) || isGroup)
    return [invalidCause(field, macAddress.slice(0, 64), 'must be a unicast address such as 02:11:22:33:44:55')];
  const isReserved = masquerade && macAddress.replaceAll('-', ':') === RESERVED_MAC;
  return isReserved ? [invalidCause(field, macAddress, 'is reserved for the bridge inside the Pod')] : [];
}

function stateCauses({ state, bridge, sriov }: CheckedInterface, network: CheckedNetwork | undefined, at: string): StatusCause[] {
  if (state === 'absent' && !bridge) return [invalidCause(`${at}.state`, state, 'only a card with the bridge binding can be taken away')];
  if (state === 'absent' && (network?.pod || network?.multus?.default))
    return [invalidCause(`${at}.state`, state, 'the card on the default network cannot be taken away')];
  return (state === 'up' || state === 'down') && sriov
    ? [invalidCause(`${at}.state`, state, 'the link of an SR-IOV card cannot be set')]
    : [];
}

function portCauses({ ports = [] }: CheckedInterface, at: string): StatusCause[] {
  return ports.flatMap(({ name, port, protocol = 'TCP' }, index) => {
    const field = `${at}.ports[${index}]`;
    const causes: StatusCause[] = [];
    if (!(port >= 1 && port <= 65535)) causes.push(invalidCause(`${field}.port`, port, 'must be between 1 and 65535'));
    if (protocol !== 'TCP' && protocol !== 'UDP') causes.push(invalidCause(`${field}.protocol`, protocol, 'must be TCP or UDP'));
    if (name && !/^(?=.{1,15}$)(?=.*[a-z])[a-z0-9]+(-[a-z0-9]+)*$/.test(name))
      causes.push(
        invalidCause(`${field}.name`, name.slice(0, 64), 'must be at most 15 lowercase letters, digits and -, with a letter among them'),
      );
    if (name && ports.findIndex((other) => other.name === name) !== index) causes.push(duplicateCause(`${field}.name`, name));
    return causes;
  });
}

function dhcpCauses({ dhcpOptions }: CheckedInterface, at: string): StatusCause[] {
  const { privateOptions = [], ntpServers = [] } = dhcpOptions ?? {};
  const options = privateOptions.flatMap(({ option }, index) => {
    const field = `${at}.dhcpOptions.privateOptions[${index}].option`;
    if (!(option >= 224 && option <= 254)) return [invalidCause(field, option, 'must be between 224 and 254')];
    return privateOptions.findIndex((other) => other.option === option) === index ? [] : [duplicateCause(field, option)];
  });
  const servers = ntpServers.flatMap((server, index) =>
    isIpv4(server) ? [] : [invalidCause(`${at}.dhcpOptions.ntpServers[${index}]`, server, 'must be an IPv4 address')],
  );
  return [...options, ...servers];
}

/** Four numbers below 256. */
export function isIpv4(text: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(text) && text.split('.').every((byte) => Number(byte) <= 255);
}
