/**
 * A dump of a guest's memory, from the moment when the Pod that writes it is there. First match wins.
 *
 *   phase of its volume    what is seen                          phase after               what follows
 *   AttachedToNode         the instance is ending                MemoryDumpFailed
 *   AttachedToNode         the guest is moved, or backed up      the same                  (exclusive-operations.ts)
 *   AttachedToNode         the guest runs, or is paused          MemoryDumpInProgress      dump it, after the write
 *   MemoryDumpInProgress   begun by a virt-handler that is gone  MemoryDumpFailed          (QEMU has let the guest run on)
 *   MemoryDumpInProgress   being dumped, the instance is ending  the same                  end it: a guest that stands still does not power off
 *   MemoryDumpInProgress   being dumped                          the same
 *   MemoryDumpInProgress   could not be dumped                   MemoryDumpFailed
 *   MemoryDumpInProgress   all of it is on the PVC               MemoryDumpCompleted
 *   Detaching              being dumped                          the same                  end it: nobody wants it any more
 *   Detaching              not being dumped                      UnMountedFromPod
 *
 * The write comes first: whoever finds it without the command knows that a virt-handler was killed. Pure.
 */
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { dumpBytesOf, dumpEntryOf } from '../../api/kubevirt/memory-dump.ts';
import { DUMP_SUFFIX } from '../../api/launcher/memory-dump.ts';
import { timestamp } from '../../base/timestamp.ts';
import { beginHindranceOf } from '../migration/begin-hindrance.ts';
import type { DomainAction } from '../vmi/domain-action.ts';
import type { CommandState } from '../vmi/domain-command.ts';
import { mustStop, type ObservedDomain } from '../vmi/observed.ts';
import { isDumpedGuest } from './dumped-guest.ts';

type Entry = NonNullable<VmiStatus['volumeStatus']>[number];
type Seen = ObservedDomain & { readonly entry: Entry; readonly command: CommandState | undefined };
type Outcome = { readonly entry?: Entry; readonly actions?: readonly DomainAction[] };
type Rule = readonly [phase: Entry['phase'], when: (seen: Seen) => boolean, then: (seen: Seen) => Outcome];

const RESTARTED = 'virt-handler was restarted while the memory was dumped';
const STOPPING = 'the instance is being stopped';

const RULES: readonly Rule[] = [
  ['AttachedToNode', mustStop, (seen) => fail(seen, STOPPING)],
  ['AttachedToNode', canBeDumped, begin],
  ['MemoryDumpInProgress', ({ command }) => command === undefined, (seen) => fail(seen, RESTARTED)],
  ['MemoryDumpInProgress', (seen) => isRunning(seen) && mustStop(seen), (seen) => end(seen, STOPPING)],
  ['MemoryDumpInProgress', isRunning, () => ({})],
  ['MemoryDumpInProgress', () => true, report],
  ['Detaching', isRunning, (seen) => end(seen, 'nobody wants the dump any more')],
  ['Detaching', () => true, leave],
];

/** Every volume of the status as it is to be; undefined where nothing changes. */
export function dumpStatus(seen: ObservedDomain, volumeStatus = seen.vmi.status?.volumeStatus): VmiStatus['volumeStatus'] | undefined {
  const { entry } = outcomeOf(seen);
  return entry && volumeStatus?.map((each) => (each.name === entry.name ? entry : each));
}

/** What to do, after that is written. */
export function decideDump(seen: ObservedDomain): readonly DomainAction[] {
  return outcomeOf(seen).actions ?? [];
}

function outcomeOf(observed: ObservedDomain): Outcome {
  const { vmi, domain } = observed;
  const entry = dumpEntryOf(vmi);
  if (!entry || vmi.status?.phase !== 'Running') return {};
  const seen = { ...observed, entry, command: domain.commands[idOf(entry)] };
  return RULES.find(([phase, when]) => phase === entry.phase && when(seen))?.[2](seen) ?? {};
}

/** One Pod is for one dump. */
function idOf({ hotplugVolume }: Entry): string {
  return `dump ${hotplugVolume?.attachPodUID}`;
}

function isRunning({ command }: Seen): boolean {
  return command?.is === 'running';
}

function canBeDumped(seen: Seen): boolean {
  const { domain, entry } = seen;
  const isUp = domain.state === 'running' || domain.state === 'paused' || domain.state === 'io-error';
  return (
    isUp &&
    domain.isConnected &&
    !domain.isGone &&
    !beginHindranceOf('memory dump', seen) &&
    entry.hotplugVolume?.attachPodUID !== undefined
  );
}

function begin({ vmi, entry, now }: Seen): Outcome {
  const claimName = entry.memoryDumpVolume?.claimName ?? entry.name;
  const startTimestamp = timestamp(now);
  const fileName = `${vmi.metadata.name}-${claimName}-${stampOf(startTimestamp)}${DUMP_SUFFIX}`;
  const to = { podUid: entry.hotplugVolume?.attachPodUID ?? '', fileName, bytes: dumpBytesOf(vmi.spec) };
  return {
    entry: {
      ...entry,
      phase: 'MemoryDumpInProgress',
      reason: 'MemoryDumpInProgress',
      message: `The memory of the guest is being dumped to PVC ${claimName}`,
      memoryDumpVolume: { claimName, startTimestamp, targetFileName: fileName },
    },
    actions: [{ do: 'command', id: idOf(entry), command: { name: 'dump', to }, because: 'its memory is to be dumped' }],
  };
}

/** 20261118-030405. */
function stampOf(time: string): string {
  return time.replaceAll(/[-:Z]/g, '').replace('T', '-').slice(0, 15);
}

function report(seen: Seen): Outcome {
  const { command, entry, now } = seen;
  if (command?.is === 'failed') return fail(seen, command.reason);
  if (command?.is !== 'done' || !isDumpedGuest(command.result)) return fail(seen, 'nobody said what was dumped');
  const mebibytes = Math.ceil(command.result.bytes / 2 ** 20);
  return {
    entry: {
      ...entry,
      phase: 'MemoryDumpCompleted',
      reason: 'MemoryDumpCompleted',
      message: `The memory of the guest is dumped, ${mebibytes} MiB`,
      memoryDumpVolume: { ...entry.memoryDumpVolume, endTimestamp: timestamp(now) },
    },
  };
}

function fail({ entry, now }: Seen, message: string): Outcome {
  const memoryDumpVolume = { ...entry.memoryDumpVolume, endTimestamp: timestamp(now) };
  return { entry: { ...entry, phase: 'MemoryDumpFailed', reason: 'MemoryDumpFailed', message, memoryDumpVolume } };
}

function end({ domain }: Seen, why: string): Outcome {
  const last = domain.commands[END];
  return last?.is === 'running' ? {} : { actions: [{ do: 'command', id: END, command: { name: 'end-dump', why }, because: why }] };
}

const END = 'end-dump';

function leave({ entry }: Seen): Outcome {
  return {
    entry: { ...entry, phase: 'UnMountedFromPod', reason: 'VolumeUnMountedFromPod', message: `PVC ${entry.name} is not used any more` },
  };
}
