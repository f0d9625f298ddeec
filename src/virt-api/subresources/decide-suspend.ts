/**
 * What suspend and resume do (whether they may: api/kubevirt/vm-can.ts). Both leave a request in the status of the machine.
 *
 *   suspend                            suspension: Suspending, of this very instance
 *   resume                             suspension: Resuming; a halted machine is set to run first, so that it stays what it is afterwards
 *
 * Pure.
 */
import { runStrategyOf, type VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { refOf } from '../../api/meta.ts';
import { type Outcome, setRunning, type Write } from './outcome.ts';

type Phase = NonNullable<NonNullable<VirtualMachine['status']>['suspension']>['phase'];

export function decideSuspend(situation: VmSituation): Outcome {
  const refused = refusalOf('suspend', situation);
  if (refused) return { refused };
  const { vm, vmi } = situation;
  return { writes: [{ ...requestSuspension(vm, 'Suspending', 'suspend requested', vmi?.metadata.uid), ...condition(vm) }] };
}

export function decideResume(situation: VmSituation): Outcome {
  const refused = refusalOf('resume', situation);
  return refused ? { refused } : { writes: goOn(situation.vm, 'Resuming', 'resume requested') };
}

/** Out of the suspension: with what was saved, or without. A halted machine would not be started again by anybody. */
export function goOn(vm: VirtualMachine, phase: 'Resuming' | 'Discarding', because: string): Write[] {
  const isHalted = runStrategyOf(vm) === 'Halted';
  // After a write of ours the machine is another version of itself: the second one is then without that condition.
  return isHalted
    ? [setRunning(vm, true, because), requestSuspension(vm, phase, because)]
    : [{ ...requestSuspension(vm, phase, because), ...condition(vm) }];
}

/** The last word of what was saved: a machine that is stopped keeps none. */
export function discard(vm: VirtualMachine, because: string): Write {
  return requestSuspension(vm, 'Discarding', because);
}

function requestSuspension(vm: VirtualMachine, phase: Phase, because: string, instanceUID?: string): Write {
  const suspension = { phase, ...(instanceUID !== undefined && { instanceUID }) };
  return { do: 'patch', target: refOf(vm), subresource: 'status', patch: { status: { suspension } }, because };
}

function condition({ metadata: { resourceVersion } }: VirtualMachine): Pick<Write, 'resourceVersion'> {
  return resourceVersion === undefined ? {} : { resourceVersion };
}
