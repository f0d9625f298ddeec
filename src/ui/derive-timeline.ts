/** The last start of a machine, step by step, from what its instance, the events of it and of its Pod, and its serial console say. Pure. */
import type { Event } from '../api/core/event.ts';
import type { GuestStart } from '../api/handler/usage-history.ts';
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

/** What is known of it; `start` as its node tells. */
type Told = { readonly vmi: VirtualMachineInstance; readonly events: readonly Event[]; readonly start?: GuestStart | undefined };
/** In milliseconds; NaN when nobody told. */
type Step = readonly [what: string, when: (told: Told) => number];

const STEPS: readonly Step[] = [
  ['Pod made', phaseTime('Scheduling')],
  ['Node chosen', eventTime('Scheduled')],
  ['Images there', eventTime('Pulled')],
  ['Pod runs', phaseTime('Scheduled')],
  ['Disks made, QEMU runs', phaseTime('Running')],
  ['First serial output', ({ start }) => start?.printedAtMs ?? Number.NaN],
  ['Login prompt', ({ start }) => start?.loginAtMs ?? Number.NaN],
  ['Agent answers', agentTime],
];

/** In the order in which they happened; nothing for one that has not begun. */
export function deriveTimeline(told: Told): TimelineStep[] {
  const { vmi } = told;
  const made = Date.parse(vmi.metadata.creationTimestamp ?? '');
  if (!Number.isFinite(made)) return [];
  const found = STEPS.flatMap(([what, when]) => {
    const at = when(told);
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
  return ({ vmi: { status } }) =>
    Date.parse(status?.phaseTransitionTimestamps?.find(({ phase }) => phase === wanted)?.phaseTransitionTimestamp ?? '');
}

/** The last of the Pod that the instance began in: one it was moved to later comes after. */
function eventTime(wanted: string): Step[1] {
  return (told) => {
    const { vmi, events } = told;
    const running = phaseTime('Running')(told);
    const times = events
      .filter(({ reason, involvedObject: about }) => reason === wanted && about.kind === 'Pod' && hasPodName(about.name, vmi.metadata.name))
      .map(({ lastTimestamp }) => lastTimestamp)
      .filter((at) => !(Date.parse(at) > running));
    return Date.parse(times.toSorted().at(-1) ?? '');
  };
}

/** An agent that went away and came back tells nothing about the start. */
function agentTime({ vmi }: Told): number {
  const condition = vmiCondition(vmi, 'AgentConnected');
  return condition?.status === 'True' ? Date.parse(condition.lastTransitionTime ?? '') : Number.NaN;
}
