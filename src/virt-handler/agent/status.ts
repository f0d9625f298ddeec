/** What the status of an instance shows of its agent. Pure. What is not known yet stays as it was written. */
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { AgentFacts } from './agent-session.ts';

type NicStatus = NonNullable<VmiStatus['interfaces']>[number];

/** Interfaces that only the guest knows of (bridges, tunnels) are shown up to this many, as upstream. */
const MOST_GUEST_ONLY = 10;

/** The system of the guest, and whether its file systems are frozen. */
export function agentStatus(before: VmiStatus, agent: AgentFacts | undefined): Pick<VmiStatus, 'guestOSInfo' | 'fsFreezeStatus'> {
  if (!agent || agent.state === 'unknown') return {};
  return omitEmpty({ guestOSInfo: agent.os, fsFreezeStatus: agent.isFrozen ? 'frozen' : undefined }, before);
}

/** The cards of the spec with what the agent says of each, found by hardware address, and then those that only it knows. */
export function withAgentNics(cards: readonly NicStatus[], before: readonly NicStatus[], agent: AgentFacts | undefined): NicStatus[] {
  if (!agent || agent.state === 'unknown')
    return [...cards.map((card) => ({ ...keptFrom(before, card), ...card })), ...guestOnlyOf(before)];
  const nics = agent.nics ?? [];
  const known = cards.map((card) => {
    const nic = nics.find(({ mac }) => mac === card.mac?.toLowerCase());
    if (!nic) return { ...card, infoSource: 'domain' };
    const addresses = card.ipAddress === undefined ? addressesOf(nic.ipAddresses) : {};
    return { ...card, ...addresses, interfaceName: nic.interfaceName, infoSource: 'domain, guest-agent' };
  });
  const others = nics.filter(({ mac }) => !cards.some((card) => card.mac?.toLowerCase() === mac));
  const guestOnly = others
    .slice(0, MOST_GUEST_ONLY)
    .map(
      ({ mac, interfaceName, ipAddresses }): NicStatus => ({ mac, interfaceName, ...addressesOf(ipAddresses), infoSource: 'guest-agent' }),
    );
  return [...known, ...guestOnly];
}

function keptFrom(before: readonly NicStatus[], { name }: NicStatus): NicStatus {
  const { interfaceName, infoSource = 'domain' } = before.find((each) => each.name === name) ?? {};
  return { infoSource, ...(interfaceName !== undefined && { interfaceName }) };
}

function guestOnlyOf(before: readonly NicStatus[]): readonly NicStatus[] {
  return before.filter(({ name, infoSource }) => name === undefined && infoSource === 'guest-agent');
}

function addressesOf(ipAddresses: readonly string[]): NicStatus {
  const [ipAddress] = ipAddresses;
  return ipAddress === undefined ? {} : { ipAddress, ipAddresses: [...ipAddresses] };
}

/** A field that is to go is named with undefined only where there is one. */
function omitEmpty<Fields extends object>(fields: Fields, before: object): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([key, value]) => value !== undefined || key in before)) as Partial<Fields>; // the same keys
}
