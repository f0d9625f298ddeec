/** How long instances take from one phase to the next, as they change: what has changed before we looked is not counted. */
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { type MetricFamilies, MetricHistogram } from '../../base/metrics.ts';

/** In seconds: a start takes a few, a slow image minutes. */
const BOUNDS = [0.5, 1, 2, 5, 10, 20, 30, 45, 60, 90, 120, 180, 300, 600, 1200, 1800];

export class PhaseTransitions {
  readonly #between = histogram('kubevirt_vmi_phase_transition_time_seconds', 'From one phase of an instance to the next.');
  readonly #sinceCreation = histogram(
    'kubevirt_vmi_phase_transition_time_from_creation_seconds',
    'From when an instance was made to when it reached a phase.',
  );
  readonly #sinceDeletion = histogram(
    'kubevirt_vmi_phase_transition_time_from_deletion_seconds',
    'From when an instance was to be deleted to when it reached a phase.',
  );

  addTo(metrics: MetricFamilies, signal: AbortSignal): void {
    for (const family of [this.#between, this.#sinceCreation, this.#sinceDeletion]) metrics.add(family, signal);
  }

  observe(old: VirtualMachineInstance, now: VirtualMachineInstance): void {
    const phase = now.status?.phase;
    const reached = now.status?.phaseTransitionTimestamps ?? [];
    const at = timeOf(reached.find((each) => each.phase === phase)?.phaseTransitionTimestamp);
    if (phase === undefined || phase === old.status?.phase || at === undefined) return;
    const last = old.status?.phase ?? '';
    const before = timeOf(reached.find((each) => each.phase === last)?.phaseTransitionTimestamp);
    const [made, deleted] = [timeOf(now.metadata.creationTimestamp), timeOf(now.metadata.deletionTimestamp)];
    if (before !== undefined) this.#between.observe({ phase, last_phase: last }, secondsBetween(before, at));
    if (made !== undefined) this.#sinceCreation.observe({ phase }, secondsBetween(made, at));
    if (deleted !== undefined) this.#sinceDeletion.observe({ phase }, secondsBetween(deleted, at));
  }
}

function histogram(name: string, help: string): MetricHistogram {
  return new MetricHistogram({ name, help, bounds: BOUNDS });
}

function timeOf(time: string | null | undefined): number | undefined {
  const ms = Date.parse(time ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

/** Times are of several machines, whose clocks differ a bit. */
function secondsBetween(fromMs: number, toMs: number): number {
  return Math.max(0, toMs - fromMs) / 1000;
}
