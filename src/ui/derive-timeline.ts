/** The last start of a machine, step by step, from what its instance and the events of it and of its Pod say. Pure. */
import type { Event } from '../api/core/event.ts';
import { vmiCondition } from '../api/kubevirt/condition-reasons.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { hasPodName } from './derive-activity.ts';

export type TimelineStep = {
  readonly what: string;
  /** Since the instance was made. */
  readonly atSeconds: number;
  /** Since the step before. */
  readonly tookSeconds: number;
};

type Step = readonly [what: string, when: (vmi: VirtualMachineInstance, events: readonly Event[]) => string | undefined];

const STEPS: readonly Step[] = [
  ['Pod made', phaseTime('Scheduling')],
  ['Node chosen', eventTime('Scheduled')],
  ['Images there', eventTime('Pulled')],
  ['Pod runs', phaseTime('Scheduled')],
  ['Disks made, QEMU runs', phaseTime('Running')],
  ['Agent answers', agentTime],
];

/** In the order in which they happened; nothing for one that has not begun. */
export function deriveTimeline(vmi: VirtualMachineInstance, events: readonly Event[]): TimelineStep[] {
  const made = Date.parse(vmi.metadata.creationTimestamp ?? '');
  if (!Number.isFinite(made)) return [];
  const found = STEPS.flatMap(([what, when]) => {
    const at = Date.parse(when(vmi, events) ?? '');
    return Number.isFinite(at) && at >= made ? [{ what, at }] : [];
  });
  const steps = found.toSorted((a, b) => a.at - b.at);
  return steps.map(({ what, at }, index) => ({
    what,
    atSeconds: Math.round((at - made) / 1000),
    tookSeconds: Math.round((at - (steps[index - 1]?.at ?? made)) / 1000),
  }));
}

function phaseTime(wanted: string): Step[1] {
  return ({ status }) => status?.phaseTransitionTimestamps?.find(({ phase }) => phase === wanted)?.phaseTransitionTimestamp;
}

/** The last of the Pod that the instance began in: one it was moved to later comes after. */
function eventTime(wanted: string): Step[1] {
  return (vmi, events) => {
    const running = Date.parse(phaseTime('Running')(vmi, events) ?? '');
    const times = events
      .filter(({ reason, involvedObject: about }) => reason === wanted && about.kind === 'Pod' && hasPodName(about.name, vmi.metadata.name))
      .map(({ lastTimestamp }) => lastTimestamp)
      .filter((at) => !(Date.parse(at) > running));
    return times.toSorted().at(-1);
  };
}

/** An agent that went away and came back tells nothing about the start. */
function agentTime(vmi: VirtualMachineInstance): string | undefined {
  const condition = vmiCondition(vmi, 'AgentConnected');
  return condition?.status === 'True' ? (condition.lastTransitionTime ?? undefined) : undefined;
}
