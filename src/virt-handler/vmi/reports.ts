/** The events that tell what has changed in a guest that runs on: keys and passwords, readiness, volumes that came, went or grew. Pure. */
import type { KubeVirtEventReason } from '../../api/core/event-reasons.ts';
import { vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import { resizeStatus } from '../hotplug/decide-resize.ts';
import { hotplugEntriesOf, hotplugStatus } from '../hotplug/hotplug-status.ts';
import type { ObservedDomain } from './observed.ts';

/** Each is told once. */
export function reportsOf(seen: ObservedDomain): Action[] {
  return [...reportCredentials(seen), ...reportReadiness(seen), ...reportPlugs(seen), ...reportResizes(seen)];
}

/** Told once for each change of the condition. */
function reportCredentials({ vmi, agent }: ObservedDomain): Action[] {
  const { credentials } = agent ?? {};
  const shown = vmiCondition(vmi, 'AccessCredentialsSynchronized')?.status;
  if (!credentials || shown === (credentials.isSynced ? 'True' : 'False')) return [];
  const told = credentials.isSynced
    ? event('AccessCredentialsSyncSuccess', 'The guest has its keys and passwords.')
    : warning('AccessCredentialsSyncFailed', `The guest has not taken its keys and passwords: ${credentials.message}.`);
  return [{ do: 'record', because: told.message, event: told }];
}

/** What has come and what has gone, once for each change of phase. */
function reportPlugs(seen: ObservedDomain): Action[] {
  const before = new Map(hotplugEntriesOf(seen.vmi).map(({ name, phase, reason }) => [name, { phase, reason }]));
  return (hotplugStatus(seen).volumeStatus ?? []).flatMap(({ name, phase, reason, message = '' }): Action[] => {
    const was = before.get(name);
    if (!was || (was.phase === phase && (was.reason === reason || reason !== 'HotplugFailed'))) return [];
    if (reason === 'HotplugFailed') return [{ do: 'record', because: message, event: warning('HotplugFailed', message) }];
    if (phase === 'Ready') return [record('VolumeReady', message)];
    return phase === 'UnMountedFromPod' ? [record('VolumeUnplugged', message)] : [];
  });
}

/** What has grown, and what could not, once for each. */
function reportResizes(seen: ObservedDomain): Action[] {
  const { volumeStatus = [] } = seen.vmi.status ?? {};
  const before = new Map(volumeStatus.map((entry) => [entry.name, entry]));
  return (resizeStatus(seen, volumeStatus) ?? []).flatMap(({ name, size = 0, reason, message = '' }): Action[] => {
    const was = before.get(name);
    if (reason === 'ResizeFailed' && was?.message !== message)
      return [{ do: 'record', because: message, event: warning('ResizeFailed', `Volume ${name}: ${message}`) }];
    return was?.size !== undefined && size > was.size ? [record('VolumeResized', `The disk of volume ${name} has ${size} bytes now.`)] : [];
  });
}

/** Told when a guest that was ready, or was not asked before, is not. */
function reportReadiness({ vmi, probes }: ObservedDomain): Action[] {
  const shown = vmiCondition(vmi, 'GuestReady')?.status;
  if (probes?.readiness?.isYes !== false || shown === 'False') return [];
  const told = warning('Unhealthy', `Readiness probe failed: ${probes.readiness.why}`);
  return [{ do: 'record', because: told.message, event: told }];
}

function event(reason: KubeVirtEventReason, message: string): EventToRecord {
  return { type: 'Normal', reason, message };
}

function warning(reason: KubeVirtEventReason, message: string): EventToRecord {
  return { type: 'Warning', reason, message };
}

function record(reason: KubeVirtEventReason, message: string): Action {
  return { do: 'record', because: message, event: event(reason, message) };
}
