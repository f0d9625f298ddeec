/**
 * What should happen to one VirtualMachinePool, given every machine that may be its own.
 *
 *   when                                            then
 *   selector empty or not that of the template      nothing: admission refuses such a pool
 *   an orphan fits the selector                     adopt it
 *   a machine of ours no longer fits                release it
 *   paused or deleting                              write the status, nothing else
 *   the template has no revision yet                keep it, before any machine names it
 *   fewer machines than wanted                      create the difference: the lowest numbers that are free
 *   more                                            proactive: delete the difference, in the order of its policy; otherwise leave them
 *   a machine does not come up for long             with autohealing: delete it; the next pass replaces it
 *   a machine is of an older revision               unless unmanaged: give it the new spec
 *   its guest is of an older revision than itself   proactive: end the instance, as many at a time as maxUnavailable lets be away
 *   a revision that nobody names                    delete it
 *
 * At most 250 machines are made, changed or removed in one pass. Pure: no clock, no I/O, no randomness.
 */

import { vmCondition, vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import type { VirtualMachinePool } from '../../api/kubevirt/kinds/pool.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { hasCondition, isControlledBy, isDeleting, type KubeObject, refOf } from '../../api/meta.ts';
import { diffAsMergePatch } from '../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../base/selectors.ts';
import { adopt, release } from '../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../reconcile/decision.ts';
import type { ObservedPool } from './observed.ts';
import { currentRevision, LABEL_POOL_REVISION } from './revision.ts';
import { inOrder } from './select.ts';
import { derivePoolStatus } from './status.ts';
import { indexOf, specFor, vmFor } from './vm-for.ts';

const BURST = 250;
const DEFAULT_FAILURES = 3;
const DEFAULT_FAILING_MS = 5 * 60_000;

/** The rules above, for one pool. */
export function decidePool(observed: ObservedPool): Decision {
  const { pool, vms, revisions } = observed;
  if (!isUsable(pool)) return nothingToDo;
  const ownership = isDeleting(pool) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const active = vms.filter((vm) => isControlledBy(vm, pool) && !isDeleting(vm));
  const status = writeStatus(observed, active);
  if (isDeleting(pool) || pool.spec.paused) return { actions: status };
  const revision = currentRevision(pool, revisions);
  const { name } = revision.metadata;
  if (!revisions.includes(revision)) return { actions: [{ do: 'create', object: revision, because: 'the template is new' }] };
  const failing = failingOf(observed, active);
  const changes = [...scale(observed, active, name), ...failing.actions, ...update(observed, active, name)];
  const actions = changes.length > 0 ? [...(isRefused(observed) ? status : []), ...changes] : [...status, ...forget(observed, name)];
  return { actions, ...(failing.lookAgainAfterMs !== undefined && { lookAgainAfterMs: failing.lookAgainAfterMs }) };
}

function isRefused({ createError, deleteError }: ObservedPool): boolean {
  return createError !== undefined || deleteError !== undefined;
}

function isUsable({ spec }: VirtualMachinePool): boolean {
  const requirements = requirementsOf(spec.selector ?? {});
  return requirements.length > 0 && matchesLabels(requirements, spec.virtualMachineTemplate?.metadata?.labels);
}

function adoptOrRelease({ pool, vms, mayAdopt }: ObservedPool): Action[] {
  const requirements = requirementsOf(pool.spec.selector);
  return vms.flatMap((vm) => {
    const isMine = isControlledBy(vm, pool);
    const fits = matchesLabels(requirements, vm.metadata.labels);
    if (isMine && !fits) return [release(pool, vm)];
    return !isMine && fits && mayAdopt && !isDeleting(vm) ? [adopt(pool, vm)] : [];
  });
}

function wantedOf({ spec }: VirtualMachinePool): number {
  return spec.replicas ?? 1;
}

function scale(observed: ObservedPool, active: readonly VirtualMachine[], revision: string): Action[] {
  const { pool, vms, takenNames = new Set() } = observed;
  const missing = wantedOf(pool) - active.length;
  if (missing < 0) return scaleIn(observed, active);
  const taken = new Set([...vms.map(({ metadata }) => metadata.name), ...takenNames]);
  const created: Action[] = [];
  for (let index = 0; created.length < Math.min(BURST, missing); index++) {
    const object = vmFor(pool, index, revision);
    if (taken.has(object.metadata.name)) continue;
    const message = `Created virtual machine: ${object.metadata.name}`;
    created.push({
      do: 'create',
      object,
      because: `${wantedOf(pool)} machines wanted`,
      event: { type: 'Normal', reason: 'SuccessfulCreate', message },
    });
  }
  return created;
}

function scaleIn(observed: ObservedPool, active: readonly VirtualMachine[]): Action[] {
  const { scaleInStrategy: { proactive, opportunistic, unmanaged } = {} } = observed.pool.spec;
  if (!proactive && (opportunistic || unmanaged)) return [];
  const wanted = wantedOf(observed.pool);
  const excess = Math.min(BURST, active.length - wanted);
  return inOrder(observed, active, proactive?.selectionPolicy)
    .slice(0, excess)
    .map((vm) => remove(vm, `${active.length} machines, ${wanted} wanted`));
}

/** Machines that failed to start often enough, for long enough; and when to look again at those that only have the first. */
function failingOf({ pool, now }: ObservedPool, active: readonly VirtualMachine[]): Decision {
  const { autohealing } = pool.spec;
  if (!autohealing) return nothingToDo;
  const { startUpFailureThreshold = DEFAULT_FAILURES, minFailingToStartDuration } = autohealing;
  const leastMs = durationMs(minFailingToStartDuration) ?? DEFAULT_FAILING_MS;
  const waits = active
    .filter(({ status }) => (status?.startFailure?.consecutiveFailCount ?? 0) >= startUpFailureThreshold)
    .map((vm) => ({ vm, waitMs: leastMs - (now - sinceOf(vm, now)) }));
  const actions = waits.filter(({ waitMs }) => waitMs <= 0).map(({ vm }) => remove(vm, 'it does not come up'));
  const later = waits.filter(({ waitMs }) => waitMs > 0).map(({ waitMs }) => waitMs);
  return { actions, ...(later.length > 0 && { lookAgainAfterMs: Math.min(...later) }) };
}

function sinceOf(vm: VirtualMachine, now: number): number {
  const ready = vmCondition(vm, 'Ready');
  return ready?.status === 'False' ? Date.parse(ready.lastTransitionTime ?? '') || now : now;
}

/** `1h30m`, `90s`: as Go writes durations. */
function durationMs(text: string | undefined): number | undefined {
  if (!text || !/^(\d+(\.\d+)?(h|m|s|ms))+$/.test(text)) return undefined;
  const units = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)].reduce((sum, [, number, unit]) => sum + Number(number) * units[unit as 'h'], 0); // one of them
}

function update(observed: ObservedPool, active: readonly VirtualMachine[], revision: string): Action[] {
  const { pool } = observed;
  const { updateStrategy: { proactive, opportunistic, unmanaged } = {} } = pool.spec;
  if (!proactive && unmanaged) return [];
  const outdated = active.filter(({ metadata }) => metadata.labels?.[LABEL_POOL_REVISION] !== revision);
  if (outdated.length > 0)
    return inOrder(observed, outdated, proactive?.selectionPolicy)
      .slice(0, BURST)
      .map((vm) => renew(pool, vm, revision));
  return !proactive && opportunistic ? [] : restart(observed, active);
}

function renew(pool: VirtualMachinePool, vm: VirtualMachine, revision: string): Action {
  const { labels = {}, annotations = {} } = pool.spec.virtualMachineTemplate.metadata ?? {};
  const spec = diffAsMergePatch(vm.spec, specFor(pool, indexOf(pool, vm.metadata.name), revision));
  const patch = { metadata: { labels: { ...labels, [LABEL_POOL_REVISION]: revision }, annotations }, ...(spec !== undefined && { spec }) };
  const message = `Updated virtual machine: ${vm.metadata.name}`;
  const event = { type: 'Normal', reason: 'SuccessfulUpdate', message } as const;
  return {
    do: 'patch',
    target: refOf(vm),
    patch,
    resourceVersion: vm.metadata.resourceVersion,
    because: `the pool is at ${revision}`,
    event,
  };
}

/** A guest that is not there for anybody yet may go without being counted. */
function restart(observed: ObservedPool, active: readonly VirtualMachine[]): Action[] {
  const { pool, vmis } = observed;
  const isAvailable = (vm: VirtualMachine) => {
    const vmi = vmis.get(vm.metadata.name);
    return vmi !== undefined && !isDeleting(vmi) && !isFinal(vmi) && vmiIs(vmi, 'Ready');
  };
  const behind = active.filter((vm) => {
    const vmi = vmis.get(vm.metadata.name);
    const isOld = vmi?.metadata.labels?.[LABEL_POOL_REVISION] !== vm.metadata.labels?.[LABEL_POOL_REVISION];
    return vmi !== undefined && isControlledBy(vmi, vm) && isOld && !isDeleting(vmi) && !isFinal(vmi);
  });
  let room = mostUnavailable(pool, active.length) - active.filter((vm) => !isAvailable(vm)).length;
  return inOrder(observed, behind, pool.spec.updateStrategy?.proactive?.selectionPolicy)
    .filter((vm) => !isAvailable(vm) || room-- > 0)
    .slice(0, BURST)
    .flatMap((vm) => vmis.get(vm.metadata.name) ?? [])
    .map((vmi) => ({ do: 'delete', target: refOf(vmi), because: 'the guest is of an older revision than its machine' }) as const);
}

function mostUnavailable({ spec: { maxUnavailable = '100%' } }: VirtualMachinePool, count: number): number {
  const said = String(maxUnavailable);
  const number = Number.parseInt(said, 10);
  return Math.max(1, said.endsWith('%') ? Math.ceil((count * number) / 100) : number);
}

/** A revision is named by machines, and by guests that are behind theirs. */
function forget({ vms, vmis, revisions }: ObservedPool, current: string): Action[] {
  const named = new Set([current, ...[...vms, ...vmis.values()].map(({ metadata }) => metadata.labels?.[LABEL_POOL_REVISION])]);
  const stale = revisions.filter(({ metadata }) => !named.has(metadata.name));
  return stale.map((each) => ({ do: 'delete', target: refOf(each), because: 'no machine is of this revision' }) as const);
}

function remove(vm: KubeObject, because: string): Action {
  const message = `Deleted virtual machine: ${vm.metadata.name}`;
  return { do: 'delete', target: refOf(vm), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

function writeStatus(observed: ObservedPool, active: readonly VirtualMachine[]): Action[] {
  const { pool } = observed;
  const status = derivePoolStatus(observed, active);
  const patch = diffAsMergePatch(pool.status ?? {}, status);
  if (patch === undefined) return [];
  const wasPaused = hasCondition(pool.status?.conditions, 'ReplicaPaused');
  const isPaused = hasCondition(status.conditions, 'ReplicaPaused');
  const reason = isPaused ? 'SuccessfulPaused' : 'SuccessfulResumed';
  const event = { type: 'Normal', reason, message: isPaused ? 'Paused the pool' : 'Resumed the pool' } as const;
  const because = `${status.replicas} machines, ${status.readyReplicas} ready`;
  const { resourceVersion } = pool.metadata;
  const write = { do: 'patch', target: refOf(pool), subresource: 'status', patch: { status: patch }, resourceVersion, because } as const;
  return [wasPaused === isPaused ? write : { ...write, event }];
}
