/** The VMI status that follows from what QEMU and the Pod show. Pure. What other components wrote stays as it is. */
import { backingUpTo } from '../../api/kubevirt/backup.ts';
import type { VmiConditions } from '../../api/kubevirt/condition-reasons.ts';
import { type NewCondition, withCondition, withoutCondition } from '../../api/kubevirt/conditions.ts';
import type { VmiEndingReason } from '../../api/kubevirt/ending-reasons.ts';
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import type { VirtualMachineInstance, VmiPhase, VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type NotMigratable, whyNotMigratable } from '../../api/kubevirt/migratable.ts';
import { type Condition, conditionOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { copiedDisksOf } from '../../qemu/convert/copied-disks.ts';
import { agentStatus, withAgentNics } from '../agent/status.ts';
import { backupStatus } from '../backup/decide-backup.ts';
import { resizeStatus } from '../hotplug/decide-resize.ts';
import { hotplugStatus } from '../hotplug/hotplug-status.ts';
import { whyOnlyHere } from '../hotplug/left-controller.ts';
import { dumpStatus } from '../memory-dump/decide-dump.ts';
import { wasPausedLast } from '../migration/was-paused-last.ts';
import { hasEnded } from './domain.ts';
import type { ObservedDomain } from './observed.ts';

export type StatusChange = { readonly phase?: VmiPhase; readonly reason?: VmiEndingReason; readonly how?: string };
type NicStatus = NonNullable<VmiStatus['interfaces']>[number];

/** The status with this change of phase, if any, and with conditions and interfaces as they are now. */
export function deriveDomainStatus(seen: ObservedDomain, change: StatusChange): VmiStatus {
  const status: VmiStatus = { ...seen.vmi.status, ...phaseOf(seen, change) };
  const now: ObservedDomain = {
    ...seen,
    vmi: { ...seen.vmi, status: change.phase === 'Running' ? withMigratable(seen, withReady(seen, status), seen.now) : status },
  };
  const derived = { ...now.vmi.status, ...conditionsOf(now), ...interfacesOf(now), ...agentStatus(status, seen.agent) };
  const plugged = withSizes(now, withDump(now, { ...derived, ...hotplugStatus(now), ...backupStatus(now) }));
  // What comes and goes while the guest runs decides on it, too.
  const isAsked = status.phase === 'Running' && conditionOf(status.conditions, 'LiveMigratable') !== undefined;
  return isAsked ? withMigratable(seen, plugged, seen.now) : plugged;
}

/** A dump is one of the volumes. */
function withDump(seen: ObservedDomain, status: VmiStatus): VmiStatus {
  const volumeStatus = dumpStatus(seen, status.volumeStatus);
  return volumeStatus ? { ...status, volumeStatus } : status;
}

/** From the moment when the guest runs. */
function withSizes(seen: ObservedDomain, status: VmiStatus): VmiStatus {
  const volumeStatus = status.phase === 'Running' ? resizeStatus(seen, status.volumeStatus) : undefined;
  return volumeStatus ? { ...status, volumeStatus } : status;
}

/** Ready is virt-controller's to keep; at the moment when the guest comes up, one write says both. */
function withReady({ pod, now }: ObservedDomain, status: VmiStatus): VmiStatus {
  const ready = conditionOf(pod?.status?.conditions, 'Ready');
  if (!ready) return status;
  const { status: flag, reason, message } = ready;
  const next = { type: 'Ready' as const, status: flag, ...(reason !== undefined && { reason }), ...(message !== undefined && { message }) };
  return { ...status, conditions: [...withCondition<VmiConditions>(status.conditions ?? [], next, now)] };
}

/** Whether the instance can be moved to another node, from the moment when it runs. */
function withMigratable({ vmi, domain }: ObservedDomain, status: VmiStatus, now: number): VmiStatus {
  const why = whyNotMigratable({ ...vmi, status }) ?? leftBehind(domain);
  const live: NewCondition<VmiConditions> = why
    ? { type: 'LiveMigratable', status: 'False', ...why }
    : { type: 'LiveMigratable', status: 'True' };
  const storage: NewCondition<VmiConditions> = why
    ? { type: 'StorageLiveMigratable', status: 'False', reason: 'NotMigratable', message: why.message }
    : { type: 'StorageLiveMigratable', status: 'True' };
  const withLive = withCondition<VmiConditions>(status.conditions ?? [], live, now);
  return {
    ...status,
    migrationMethod: copiedDisksOf(vmi.spec).length > 0 ? 'BlockMigration' : 'LiveMigration',
    migrationTransport: 'Unix',
    conditions: [...withCondition<VmiConditions>(withLive, storage, now)],
  };
}

function leftBehind(domain: ObservedDomain['domain']): NotMigratable | undefined {
  const why = whyOnlyHere(domain);
  return why === undefined ? undefined : { reason: 'DisksNotLiveMigratable', message: `cannot migrate VMI: ${why}` };
}

/** A phase is stamped when it is first reached. */
function phaseOf({ vmi, now }: ObservedDomain, { phase, reason, how }: StatusChange): Partial<VmiStatus> {
  if (phase === undefined) return {};
  const reached = vmi.status?.phaseTransitionTimestamps ?? [];
  const isNew = !reached.some((entry) => entry.phase === phase);
  const stamped = isNew ? [...reached, { phase, phaseTransitionTimestamp: timestamp(now) }] : reached;
  const suspension = vmi.status?.suspension;
  // Its machine stays suspended, and says why.
  const told = suspension?.phase === 'Resuming' && how !== undefined ? { suspension: { ...suspension, message: how } } : {};
  return { phase, phaseTransitionTimestamps: stamped, ...(reason !== undefined && { reason }), ...told };
}

/** Nobody pauses a guest that is on its way, or on its way back: it stands still to be copied. Before it is sent, only a pause tells that it is paused. */
function standsStillForMove({ vmi, pod, domain }: ObservedDomain): boolean {
  const { migrationState } = vmi.status ?? {};
  if (!isOnItsWay(migrationState) || migrationState?.completed) return false;
  return migrationState?.startTimestamp !== undefined || (migrationState?.sourcePod === pod?.metadata.name && !wasPausedLast(domain));
}

/** Conditions that are present only while they hold. `undefined` means that what we see does not tell. */
const WHILE_TRUE: readonly {
  readonly holds: (seen: ObservedDomain) => boolean | undefined;
  readonly says: (seen: ObservedDomain) => NewCondition<VmiConditions>;
}[] = [
  {
    holds: (seen) => {
      const { vmi, domain } = seen;
      if (hasEnded(domain) || domain.isGone) return false;
      if (!domain.isConnected || domain.state === 'unresponsive') return undefined;
      // Between two nodes a guest stands still for a moment, which is no pause: what was known before holds.
      if (domain.state === 'incoming' || domain.state === 'switching' || domain.state === 'moved') return undefined;
      if (domain.state === 'paused' && (vmi.status?.suspension !== undefined || backingUpTo(vmi) !== undefined)) return undefined;
      if (domain.state === 'paused' && standsStillForMove(seen)) return undefined;
      if (domain.state === 'prelaunch') return vmi.spec.startStrategy === 'Paused';
      return domain.state === 'paused' || domain.state === 'io-error';
    },
    says: ({ domain }) => ({
      type: 'Paused',
      status: 'True',
      reason: domain.state === 'io-error' ? 'PausedIOError' : 'PausedByUser',
      message: 'The processors of the guest are stopped.',
    }),
  },
  {
    holds: ({ vmi, domain }) => {
      if (domain.isGone) return false;
      if (domain.state === 'connecting') return undefined;
      return domain.state === 'unresponsive' || (domain.state === 'absent' && vmi.status?.phase === 'Running');
    },
    says: () => ({ type: 'Unresponsive', status: 'True', reason: 'QMPTimeout', message: 'QEMU does not answer.' }),
  },
  {
    holds: ({ domain, agent }) => (domain.isGone ? false : isAgentThere(agent)),
    says: () => ({ type: 'AgentConnected', status: 'True' }),
  },
  {
    holds: ({ domain, agent }) => (domain.isGone ? false : isAgentThere(agent) && (agent?.missing ?? []).length > 0),
    says: ({ agent }) => ({
      type: 'AgentVersionNotSupported',
      status: 'True',
      reason: 'MissingCommands',
      message: `The guest agent does not know ${agent?.missing?.join(', ')}.`,
    }),
  },
];

/** True or False, and absent before anybody tried. */
function withCredentials(conditions: readonly Condition[], { agent, now }: ObservedDomain): readonly Condition[] {
  const { credentials } = agent ?? {};
  if (!credentials) return conditions;
  const { isSynced, message } = credentials;
  const reason = isSynced ? 'AccessCredentialsSyncSuccess' : 'AccessCredentialsSyncFailed';
  const status = isSynced ? 'True' : 'False';
  const said = { type: 'AccessCredentialsSynchronized', status, reason, ...(message && { message }) } as const;
  return withCondition<VmiConditions>(conditions, said, now);
}

/** True or False, and absent before the probe inside the guest has an answer. */
function withGuestReady(conditions: readonly Condition[], { probes, now }: ObservedDomain): readonly Condition[] {
  if (!probes?.readiness) return conditions;
  const { isYes, why } = probes.readiness;
  const said = { status: isYes ? 'True' : 'False', reason: isYes ? 'ProbeSucceeded' : 'ProbeFailed' } as const;
  return withCondition<VmiConditions>(conditions, { type: 'GuestReady', ...said, ...(why !== undefined && { message: why }) }, now);
}

function isAgentThere(agent: ObservedDomain['agent']): boolean | undefined {
  return agent && agent.state !== 'unknown' ? agent.state === 'connected' : undefined;
}

function conditionsOf(seen: ObservedDomain): Pick<VmiStatus, 'conditions'> {
  const before: readonly Condition[] = seen.vmi.status?.conditions ?? [];
  let after = before;
  for (const { holds, says } of WHILE_TRUE) {
    const answer = holds(seen);
    if (answer === true) after = withCondition<VmiConditions>(after, says(seen), seen.now);
    else if (answer === false) after = withoutCondition<VmiConditions>(after, says(seen).type);
  }
  after = withGuestReady(withCredentials(after, seen), seen);
  return after === before ? {} : { conditions: [...after] };
}

/** The cards of the spec, with the address of the Pod: what is behind it can be reached there. Known once the guest runs. */
function interfacesOf({ vmi, pod, domain, agent }: ObservedDomain): Pick<VmiStatus, 'interfaces'> {
  const wanted = cardsOf(vmi);
  const podIP = pod?.status?.podIP;
  if (vmi.status?.phase !== 'Running' || wanted.length === 0 || podIP === undefined) return {};
  const ipAddresses = pod?.status?.podIPs?.map(({ ip }) => ip) ?? [podIP];
  const macs = domain.macs?.length === wanted.length ? domain.macs : [];
  const old = vmi.status.interfaces ?? [];
  const seen = wanted.map(({ name, macAddress }, index): NicStatus => {
    const before = old.find((nic) => nic.name === name);
    const mac = macs[index] ?? macAddress ?? before?.mac;
    // Other networks than that of the Pod have addresses that only the guest knows.
    const isOnPodNetwork = !vmi.spec.networks?.length || vmi.spec.networks.some((network) => network.name === name && network.pod);
    return { name, ...(mac !== undefined && { mac }), ...(isOnPodNetwork && { ipAddress: podIP, ipAddresses }) };
  });
  return { interfaces: withAgentNics(seen, old, agent) };
}

/** Those listed, or one on the network of the Pod unless that is switched off. */
function cardsOf({ spec }: VirtualMachineInstance): readonly { readonly name: string; readonly macAddress?: string }[] {
  const { interfaces = [], autoattachPodInterface } = spec.domain.devices;
  return interfaces.length > 0 || spec.networks?.length || autoattachPodInterface === false ? interfaces : [{ name: 'default' }];
}
