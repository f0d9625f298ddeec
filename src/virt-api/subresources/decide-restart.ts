/**
 * What a restart does (whether it may be done at all: api/kubevirt/vm-can.ts).
 *
 *   any allowed strategy               request Stop of the instance, then Start
 *   with a grace period of 0           the same, and the instance gets 1 s first
 *
 * Pure.
 */
import { refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { type Outcome, request, setGracePeriod } from './outcome.ts';

/** The shortest time that still lets the guest be told. */
const FORCED_GRACE_SECONDS = 1;

export function decideRestart(situation: VmSituation): Outcome {
  const refused = refusalOf('restart', situation);
  if (refused) return { refused };
  const { vm, vmi, gracePeriodSeconds } = situation;
  const restart = request(vm, [{ action: 'Stop', uid: vmi?.metadata.uid }, { action: 'Start' }], 'restart requested');
  if (gracePeriodSeconds !== 0 || !vmi) return { writes: [restart] };
  return {
    writes: [setGracePeriod(vmi, FORCED_GRACE_SECONDS, 'forced restart requested'), restart],
    undo: setGracePeriod(vmi, vmi.spec.terminationGracePeriodSeconds ?? null, 'restart failed'),
  };
}
