/** How long a VM whose instances end before they ever ran waits for its next try. Pure. */
import { runStrategyOf, type VirtualMachine, type VmStatus } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { sha1Hex } from '../../base/sha1.ts';
import { timestamp } from '../../base/timestamp.ts';
import type { ObservedVm } from './observed.ts';

type StartFailure = VmStatus['startFailure'];

const FIRST_SECONDS = 10;
const CAP_SECONDS = 300;

/** What `status.startFailure` should say now: one more for an early end not counted yet, nothing once an instance has run. */
export function startFailureAfter({ vm, vmi, now }: ObservedVm): StartFailure {
  const before = vm.status?.startFailure;
  const strategy = runStrategyOf(vm);
  if (strategy === 'Manual' || strategy === 'Halted' || (vmi && hasRun(vmi))) return undefined;
  const uid = vmi?.metadata.uid;
  if (!vmi || !uid || !isFinal(vmi) || before?.lastFailedVMIUID === uid) return before;
  const consecutiveFailCount = (before?.consecutiveFailCount ?? 0) + 1;
  const retryAfterTimestamp = timestamp(now + delaySeconds(consecutiveFailCount, uid) * 1000);
  return { consecutiveFailCount, lastFailedVMIUID: uid, retryAfterTimestamp };
}

/** How long to wait until a start is allowed; 0 when it is. */
export function backoffRemainingMs(vm: VirtualMachine, now: number): number {
  const retryAt = Date.parse(vm.status?.startFailure?.retryAfterTimestamp ?? '');
  return Number.isNaN(retryAt) ? 0 : Math.max(0, retryAt - now);
}

/** The guest of this instance has executed something. */
export function hasRun(vmi: VirtualMachineInstance): boolean {
  const wasRunning = vmi.status?.phaseTransitionTimestamps?.some(({ phase }) => phase === 'Running') ?? false;
  return wasRunning || vmi.status?.phase === 'Running';
}

/** 10 s x count squared, up to half of it on top so that many VMs do not come back in step; the uid is the dice. */
function delaySeconds(count: number, uid: string): number {
  const base = FIRST_SECONDS * count * count;
  const dice = Number.parseInt(sha1Hex(uid).slice(0, 8), 16) / 2 ** 32;
  return Math.min(CAP_SECONDS, base + Math.floor((dice * base) / 2));
}
