/**
 * What a start does, by run strategy and what is left of the last run (whether it may be done at all: api/kubevirt/vm-can.ts).
 *
 *   suspended                          the suspension ends: Resuming, or Discarding when what was saved is not wanted
 *   Halted, not paused                 spec: Always, or running: true
 *   Halted, paused                     request Start with paused
 *   Manual, a finished instance        request Stop of that instance, then Start
 *   RerunOnFailure, Succeeded          request Stop of that instance, then Start
 *   Manual, RerunOnFailure, else       request Start
 *
 * Pure.
 */
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isSuspended, refusalOf, startsBySpec, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { goOn } from './decide-suspend.ts';
import { type Outcome, request, setRunning } from './outcome.ts';

export function decideStart(situation: VmSituation): Outcome {
  const refused = refusalOf('start', situation);
  if (refused) return { refused };
  const { vm, vmi, isPaused, isDiscarding } = situation;
  if (isSuspended(vm)) return { writes: goOn(vm, isDiscarding ? 'Discarding' : 'Resuming', 'start requested') };
  if (startsBySpec(situation)) return { writes: [setRunning(vm, true, 'start requested')] };
  const start = isPaused ? ({ action: 'Start', data: { paused: 'true' } } as const) : ({ action: 'Start' } as const);
  if (vmi && isFinal(vmi)) {
    return {
      writes: [request(vm, [{ action: 'Stop', uid: vmi.metadata.uid }, start], 'start requested, in place of a finished instance')],
    };
  }
  return { writes: [request(vm, [start], isPaused ? 'paused start requested' : 'start requested')] };
}
