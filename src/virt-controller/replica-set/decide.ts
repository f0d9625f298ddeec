/**
 * What should happen to one VirtualMachineInstanceReplicaSet, given every instance that may be its own.
 *
 *   when                                                  then
 *   selector empty or not that of the template's labels   nothing: admission refuses such a set, an old one is left alone
 *   an orphan fits the selector                           adopt it
 *   an instance of ours no longer fits                    release it
 *   paused or deleting                                    write the status, nothing else
 *   fewer active instances than wanted                    create the difference
 *   more                                                  delete the difference: those that do least first
 *   an instance has ended, or its Pod is going            delete it; the next pass replaces it
 *
 * At most 250 instances are made or removed in one pass. Adoptions and releases go first and alone, so that a count is never taken of a set
 * that is about to change. The status is written last: what failed is in it (observe tells it), and so is what was just made.
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { vmiCondition, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { instanceFrom } from '../../api/kubevirt/instance-from.ts';
import type { VirtualMachineInstanceReplicaSet } from '../../api/kubevirt/kinds/replica-set.ts';
import { isFinal, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { hasCondition, isControlledBy, isDeleting, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { timestamp } from '../../base/timestamp.ts';
import { adopt, release } from '../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import { firstStatus } from '../vmi/status.ts';
import type { ObservedReplicaSet } from './observed.ts';
import { deriveReplicaSetStatus } from './status.ts';

const BURST = 250;

/** The rules above, for one set. */
export function decideReplicaSet(observed: ObservedReplicaSet): Decision {
  const { set, vmis } = observed;
  if (!isUsable(set)) return nothingToDo;
  const ownership = isDeleting(set) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const mine = vmis.filter((vmi) => isControlledBy(vmi, set));
  const active = mine.filter(isActive);
  const status = writeStatus(observed, active);
  if (isDeleting(set) || set.spec.paused) return { actions: status };
  const missing = wantedOf(set) - active.length;
  const finished = mine.filter((vmi) => !isActive(vmi) && !isDeleting(vmi));
  const scaling = [
    ...Array.from({ length: Math.min(BURST, Math.max(0, missing)) }, () => create(observed)),
    ...leastFirst(active)
      .slice(0, Math.min(BURST, Math.max(0, -missing)))
      .map((vmi) => remove(vmi, `${active.length} instances, ${wantedOf(set)} wanted`)),
    ...finished.slice(0, BURST).map((vmi) => remove(vmi, `the instance is ${vmi.status?.phase ?? 'ending'}`)),
  ];
  // A refusal is told before the next try; otherwise the status waits until the numbers have settled.
  if (scaling.length === 0) return { actions: status };
  const isRefused = observed.createError !== undefined || observed.deleteError !== undefined;
  return { actions: isRefused ? [...status, ...scaling] : scaling };
}

/** Not final, not going, and its Pod is not going either. */
function isActive(vmi: VirtualMachineInstance): boolean {
  return !isFinal(vmi) && !isDeleting(vmi) && vmiCondition(vmi, 'Ready')?.reason !== 'PodTerminating';
}

function wantedOf({ spec }: VirtualMachineInstanceReplicaSet): number {
  return spec.replicas ?? 1;
}

function isUsable({ spec }: VirtualMachineInstanceReplicaSet): boolean {
  const requirements = requirementsOf(spec.selector ?? {});
  return requirements.length > 0 && matchesLabels(requirements, spec.template?.metadata?.labels);
}

function adoptOrRelease({ set, vmis, mayAdopt }: ObservedReplicaSet): Action[] {
  const requirements = requirementsOf(set.spec.selector);
  return vmis.flatMap((vmi) => {
    const isMine = isControlledBy(vmi, set);
    const fits = matchesLabels(requirements, vmi.metadata.labels);
    if (isMine && !fits) return [release(set, vmi)];
    return !isMine && fits && mayAdopt && !isDeleting(vmi) && !isFinal(vmi) ? [adopt(set, vmi)] : [];
  });
}

/** Whoever serves nobody goes first: without a node, then not ready, then the youngest. */
function leastFirst(vmis: readonly VirtualMachineInstance[]): VirtualMachineInstance[] {
  const rank = (vmi: VirtualMachineInstance) => (vmiIs(vmi, 'Ready') ? 2 : vmi.status?.nodeName ? 1 : 0);
  const age = (vmi: VirtualMachineInstance) => vmi.metadata.creationTimestamp ?? '';
  return vmis.toSorted((a, b) => rank(a) - rank(b) || age(b).localeCompare(age(a)) || a.metadata.name.localeCompare(b.metadata.name));
}

function create({ set, now }: ObservedReplicaSet): Action {
  const { template } = set.spec;
  const generateName = template.metadata?.name || template.metadata?.generateName || set.metadata.name;
  const object = { ...instanceFrom({ owner: set, template, named: { generateName } }), status: firstStatus(timestamp(now)) };
  const event = { type: 'Normal', reason: 'SuccessfulCreate', message: `Created virtual machine instance: ${generateName}*` } as const;
  return { do: 'create', object, because: `${wantedOf(set)} instances wanted`, event };
}

function remove(vmi: VirtualMachineInstance, because: string): Action {
  const message = `Deleted virtual machine instance: ${vmi.metadata.name}`;
  return { do: 'delete', target: refOf(vmi), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

function writeStatus(observed: ObservedReplicaSet, active: readonly VirtualMachineInstance[]): Action[] {
  const { set } = observed;
  const status = deriveReplicaSetStatus(observed, active);
  const patch = diffAsMergePatch(set.status ?? {}, status);
  if (patch === undefined) return [];
  const wasPaused = hasCondition(set.status?.conditions, 'ReplicaPaused');
  const isPaused = hasCondition(status.conditions, 'ReplicaPaused');
  const reason = isPaused ? 'SuccessfulPaused' : 'SuccessfulResumed';
  const event = { type: 'Normal', reason, message: isPaused ? 'Paused the replica set' : 'Resumed the replica set' } as const;
  const because = `${status.replicas} instances, ${status.readyReplicas} ready`;
  const { resourceVersion } = set.metadata;
  const write = { do: 'patch', target: refOf(set), subresource: 'status', patch: { status: patch }, resourceVersion, because } as const;
  return [wasPaused === isPaused ? write : { ...write, event }];
}
