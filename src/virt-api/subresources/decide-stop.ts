/**
 * What a stop does, by run strategy (whether it may be done at all: api/kubevirt/vm-can.ts).
 *
 *   suspended                          what was saved is thrown away; for Always and Once the spec is halted first
 *   Always, Once                       spec: Halted, or running: false
 *   Manual, RerunOnFailure             request Stop of the instance; requests that wait are dropped
 *   Halted, with a shorter grace       the same: the shutdown that is under way is cut short
 *
 * A grace period is written to the instance first. Pure.
 */
import { runStrategyOf } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { isSuspended, refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { discard } from './decide-suspend.ts';
import { type Outcome, request, setGracePeriod, setRunning, type Write } from './outcome.ts';

const DISCARDED = 'it was suspended: its saved memory is thrown away, and the next start boots it';

export function decideStop(situation: VmSituation): Outcome {
  const refused = refusalOf('stop', situation);
  if (refused) return { refused };
  const { vm, vmi, gracePeriodSeconds } = situation;
  if (isSuspended(vm)) return { writes: [...haltedFirst(vm), discard(vm, 'stop requested')], warning: DISCARDED };
  const stop = stopOf(situation);
  if (gracePeriodSeconds === undefined || !vmi || isFinal(vmi)) return { writes: [stop] };
  return {
    writes: [setGracePeriod(vmi, gracePeriodSeconds, `stop requested within ${gracePeriodSeconds} s`), stop],
    undo: setGracePeriod(vmi, vmi.spec.terminationGracePeriodSeconds ?? null, `stop of ${vm.metadata.name} failed`),
  };
}

/** One that is to run would be booted as soon as nothing is saved. */
function haltedFirst(vm: VmSituation['vm']): Write[] {
  const strategy = runStrategyOf(vm);
  return strategy === 'Always' || strategy === 'Once' ? [setRunning(vm, false, 'stop requested')] : [];
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
