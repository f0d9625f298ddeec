/**
 * What a stop does, by run strategy (whether it may be done at all: api/kubevirt/vm-can.ts).
 *
 *   Always, Once                       spec: Halted, or running: false
 *   Manual, RerunOnFailure             request Stop of the instance; requests that wait are dropped
 *   Halted, with a shorter grace       the same: the shutdown that is under way is cut short
 *
 * A grace period is written to the instance first. Pure.
 */
import { runStrategyOf } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { type Outcome, request, setGracePeriod, setRunning, type Write } from './outcome.ts';

export function decideStop(situation: VmSituation): Outcome {
  const refused = refusalOf('stop', situation);
  if (refused) return { refused };
  const { vm, vmi, gracePeriodSeconds } = situation;
  const stop = stopOf(situation);
  if (gracePeriodSeconds === undefined || !vmi || isFinal(vmi)) return { writes: [stop] };
  return {
    writes: [setGracePeriod(vmi, gracePeriodSeconds, `stop requested within ${gracePeriodSeconds} s`), stop],
    undo: setGracePeriod(vmi, vmi.spec.terminationGracePeriodSeconds ?? null, `stop of ${vm.metadata.name} failed`),
  };
}

function stopOf({ vm, vmi }: VmSituation): Write {
  switch (runStrategyOf(vm)) {
    case 'Always':
    case 'Once':
      return setRunning(vm, false, 'stop requested');
    case 'Halted':
    case 'Manual':
    case 'RerunOnFailure':
      return request(vm, [{ action: 'Stop', uid: vmi?.metadata.uid }], 'stop requested');
  }
}
