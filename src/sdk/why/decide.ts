/**
 * Why a machine is as it is: the first rule that matches names what blocks, on the way VM -> VMI -> Pod -> node -> QEMU. Pure.
 *
 *   going away       the machine or its instance is being deleted and waits for the guest or for its grace period
 *   node lost        its node, or the virt-handler there, does not report any more
 *   QEMU             does not answer; paused by a user; paused by a full disk
 *   suspended        its memory is on a PVC; or it could not be resumed, and why
 *   running          ready; or not, with what the instance says about it; and whether it can be moved to another node, or why not
 *   volumes          a claim that is not there, or not bound
 *   controller       cannot make the instance or its Pod
 *   image            cannot be fetched
 *   placing          no node; all nodes closed; none fits
 *   launcher         is being prepared, or failed
 *   crash loop       the next try is later
 *   by intention     halted, waits for a start, ended and its strategy does not start it again
 *   image            is being fetched, for the first time or after it could not be
 *   starting         nothing is wrong yet
 */

import type { Pod } from '../../api/core/pod.ts';
import { vmCondition, vmiCondition } from '../../api/kubevirt/condition-reasons.ts';
import { type RunStrategy, runStrategyOf } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { gracePeriodSecondsOf, isFinal } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_HEARTBEAT, HEARTBEAT_STALE_AFTER_MS } from '../../api/kubevirt/names.ts';
import { refusalOf, type VmSituation } from '../../api/kubevirt/vm-can.ts';
import { conditionOf, isDeleting, type KubeObject } from '../../api/meta.ts';
import { humanDuration } from '../../base/duration.ts';
import { imageComing, imageMissing, isImageReason } from './decide-image.ts';
import { moveEvidence } from './decide-move.ts';
import { decidePlacing } from './decide-placing.ts';
import type { Answer, Observed } from './observed.ts';

type Rule = (observed: Observed) => Answer | undefined;

const RULES: readonly Rule[] = [
  goingAway,
  nodeLost,
  qemuSilent,
  paused,
  suspended,
  running,
  claimMissing,
  controllerStuck,
  imageMissing,
  decidePlacing,
  launcherWaits,
  launcherFailed,
  crashLoop,
  byIntention,
  failed,
  imageComing,
  starting,
];

/** The answer of the first rule that has one. */
export function decideWhy(observed: Observed): Answer {
  for (const rule of RULES) {
    const answer = rule(observed);
    if (answer) return answer;
  }
  return blocked(
    `${observed.name} should run, but nobody has made an instance of it`,
    lastWarnings(observed),
    'virtctl logs --system --tail 20',
  );
}

function goingAway({ name, vm, vmi, pod, now }: Observed): Answer | undefined {
  const isVmGoing = vm !== undefined && isDeleting(vm);
  if (!vmi || isFinal(vmi)) {
    if (!isVmGoing) return undefined;
    return blocked(
      `${name} is being deleted`,
      [`finalizers: ${vm.metadata.finalizers?.join(', ') || 'none'}`],
      'virtctl logs --system --tail 20',
    );
  }
  if (!isDeleting(vmi)) return undefined;
  const graceSeconds = gracePeriodSecondsOf(vmi);
  const askedAt = Math.min(deletedAt(vmi), pod && isDeleting(pod) ? deletedAt(pod) : Number.POSITIVE_INFINITY);
  const leftMs = askedAt + graceSeconds * 1000 - now;
  return blocked(
    `${name} is being ${isVmGoing ? 'deleted' : 'stopped'} and waits for its guest to power off`,
    [
      `asked ${ago(now - askedAt)}, grace period ${graceSeconds}s${leftMs > 0 ? `: force stop in ${humanDuration(leftMs)} at the latest` : ' is over'}`,
    ],
    `wait, or force stop it: virtctl stop ${name} --force --grace-period 0`,
  );
}

/** Kubernetes stamps an object with the end of its grace period. That of an instance is in its spec: its own is 0 to Kubernetes. */
function deletedAt({ metadata: { deletionTimestamp = '', deletionGracePeriodSeconds = 0 } }: KubeObject): number {
  return Date.parse(deletionTimestamp) - deletionGracePeriodSeconds * 1000;
}

function nodeLost({ name, vmi, nodes, now }: Observed): Answer | undefined {
  if (!vmi || isFinal(vmi)) return undefined;
  const node = nodes?.find((each) => each.metadata.name === vmi.status?.nodeName);
  const ready = conditionOf(node?.status?.conditions, 'Ready');
  const beatAt = Date.parse(node?.metadata.annotations?.[ANNOTATION_HEARTBEAT] ?? '');
  if (node && ready?.status === 'True' && now - beatAt > HEARTBEAT_STALE_AFTER_MS)
    return blocked(
      `virt-handler on the node of ${name} is silent, so nobody knows how its guest is`,
      [`node ${node.metadata.name}: last heard of ${ago(now - beatAt)}`],
      `start virt-handler there again; to run ${name} elsewhere, first make sure that its guest is dead, then kubectl delete pod --force`,
    );
  if (!node || !ready || ready.status === 'True') return undefined;
  const since = ready.lastTransitionTime ? `, ${ago(now - Date.parse(ready.lastTransitionTime))}` : '';
  return blocked(
    `the node of ${name} does not report any more, so nobody knows how it is`,
    [`node ${node.metadata.name}: Ready is ${ready.status}${since}: ${ready.message ?? ready.reason ?? 'no reason given'}`],
    `bring the node back, or give it up: kubectl delete node ${node.metadata.name}`,
  );
}

function qemuSilent({ name, vm, vmi }: Observed): Answer | undefined {
  const condition = vmiCondition(vmi, 'Unresponsive');
  if (condition?.status !== 'True' || (vmi && isFinal(vmi))) return undefined; // one that has ended does not answer either
  return blocked(
    `QEMU of ${name} hangs`,
    [`condition Unresponsive since ${condition.lastTransitionTime}: ${condition.reason}, ${condition.message}`],
    vm ? `virtctl restart ${name} --force --grace-period 0` : `kubectl delete vmi ${name}, which cuts it off after its grace period`,
  );
}

function paused({ name, vmi }: Observed): Answer | undefined {
  const condition = vmiCondition(vmi, 'Paused');
  if (condition?.status !== 'True') return undefined;
  const evidence = [`condition Paused since ${condition.lastTransitionTime}: ${condition.reason}, ${condition.message ?? ''}`];
  return condition.reason === 'PausedIOError'
    ? blocked(
        `${name} was paused by QEMU: a disk could not be written`,
        evidence,
        `make space (virtctl doctor), then virtctl unpause vm ${name}`,
      )
    : blocked(`${name} is paused`, evidence, `virtctl unpause vm ${name}`);
}

function suspended({ name, vm }: Observed): Answer | undefined {
  const condition = vmCondition(vm, 'Suspended');
  if (condition?.status !== 'True') return undefined;
  const evidence = [`condition Suspended since ${condition.lastTransitionTime}: ${condition.reason}, ${condition.message ?? ''}`];
  return condition.reason === 'ResumeFailed'
    ? blocked(`${name} is suspended and could not be resumed`, evidence, `virtctl start ${name} --discard boots it anew`)
    : blocked(`${name} is suspended`, evidence, `virtctl resume ${name}`);
}

function running({ name, vmi, now }: Observed): Answer | undefined {
  if (vmi?.status?.phase !== 'Running') return undefined;
  const { nodeName, interfaces, phaseTransitionTimestamps } = vmi.status;
  const ready = vmiCondition(vmi, 'Ready');
  const since = phaseTransitionTimestamps?.find(({ phase }) => phase === 'Running')?.phaseTransitionTimestamp;
  const address = interfaces?.map(({ ipAddress }) => ipAddress).find((each) => each !== undefined);
  const evidence = [
    `running on ${nodeName}${since ? ` for ${humanDuration(now - Date.parse(since))}` : ''}${address ? `, address ${address}` : ''}`,
    ...moveEvidence(vmi),
  ];
  if (ready?.status !== 'False') return { isBlocked: false, what: `nothing blocks: ${name} is running`, evidence };
  const story = [...evidence, `condition Ready is False: ${ready.reason}, ${ready.message ?? ''}`];
  return blocked(`${name} is running but not ready`, story, `virtctl logs ${name} --tail 20`);
}

function claimMissing({ name, claims, vm, vmi }: Observed): Answer | undefined {
  if (vmi ? isFinal(vmi) : vm && !mayStart(runStrategyOf(vm))) return undefined;
  for (const [claim, found] of claims) {
    if (!found)
      return blocked(
        `${name} needs the PVC ${claim}, which does not exist`,
        [`volume with claimName: ${claim}`],
        `kubectl create a PersistentVolumeClaim named ${claim}`,
      );
    if (found.status?.phase === 'Bound' || found.status?.phase === undefined) continue;
    // Where there is a default class, the server has written it into the claim.
    if (found.spec.storageClassName === undefined && !found.spec.volumeName)
      return blocked(
        `${name} waits for its PVC ${claim}, which names no storage class, and there is no default one`,
        [`PVC ${claim} is ${found.status.phase}`],
        `kubectl annotate storageclass NAME storageclass.kubernetes.io/is-default-class=true, or make the PVC again with a storageClassName`,
      );
    return blocked(
      `${name} waits for its PVC ${claim}, which has no volume yet`,
      [`PVC ${claim} is ${found.status.phase}, class ${found.spec.storageClassName || 'none'}`],
      `kubectl describe pvc ${claim}`,
    );
  }
  return undefined;
}

function controllerStuck({ name, vm, vmi }: Observed): Answer | undefined {
  const failure = vmCondition(vm, 'Failure');
  const stuck = failure?.status === 'True' ? failure : vmiCondition(vmi, 'Synchronized');
  if (!stuck || (stuck.type === 'Synchronized' && (stuck.status !== 'False' || isImageReason(stuck.reason)))) return undefined;
  const [what, where] = stuck === failure ? ['an instance', 'VM'] : ['a Pod', 'VMI'];
  return blocked(
    `${what} of ${name} cannot be made`,
    [`condition ${stuck.type} of the ${where}: ${stuck.reason}, ${stuck.message ?? ''}`],
    'change what the message names; it is tried again by itself',
  );
}

function launcherWaits({ name, vmi, pod, now }: Observed): Answer | undefined {
  if (!vmi || isFinal(vmi) || !pod?.spec.nodeName) return undefined;
  const waiting = statesOf(pod).find(({ waiting }) => waiting)?.waiting;
  if (!waiting || waiting.reason === 'ContainerCreating') return undefined;
  const age = ago(now - Date.parse(pod.metadata.creationTimestamp ?? ''));
  return blocked(
    `the Pod of ${name} cannot start`,
    [`Pod ${pod.metadata.name}, made ${age}: ${waiting.reason}, ${waiting.message ?? ''}`],
    `kubectl describe pod ${pod.metadata.name}`,
  );
}

function statesOf(pod: Pod) {
  const { initContainerStatuses = [], containerStatuses = [] } = pod.status ?? {};
  return [...initContainerStatuses, ...containerStatuses].flatMap(({ state }) => state ?? []);
}

function launcherFailed({ name, vmi, pod }: Observed): Answer | undefined {
  if (!vmi || isFinal(vmi) || !pod) return undefined;
  const ended = statesOf(pod).find(({ terminated }) => terminated && terminated.exitCode !== 0)?.terminated;
  if (!ended) return undefined;
  return blocked(
    `QEMU of ${name} did not start`,
    [`Pod ${pod.metadata.name} ended with ${ended.exitCode} (${ended.reason}): ${ended.message ?? 'no message'}`],
    `kubectl logs ${pod.metadata.name}`,
  );
}

function crashLoop(observed: Observed): Answer | undefined {
  const { name, vm, vmi, now } = observed;
  const failure = vm?.status?.startFailure;
  if (!vm || !failure?.consecutiveFailCount || (vmi && !isFinal(vmi)) || !mayStart(runStrategyOf(vm))) return undefined;
  const waitMs = Date.parse(failure.retryAfterTimestamp ?? '') - now;
  const next = waitMs > 0 ? `the next try is in ${humanDuration(waitMs)}, at ${failure.retryAfterTimestamp}` : 'the next try is due';
  return blocked(
    `${name} fails to start again and again`,
    [`${failure.consecutiveFailCount} failures in a row; ${next}`, ...lastShutdown(observed), ...lastFailure(observed)],
    `fix the cause above; ${tryAtOnce(name, { vm, ...(vmi && { vmi }) })} retries at once`,
  );
}

/** What starts a machine now depends on its run strategy, and on whether its last instance is still there. */
function tryAtOnce(name: string, situation: VmSituation): string {
  if (!refusalOf('start', situation)) return `virtctl start ${name}`;
  return refusalOf('restart', situation) ? `virtctl stop ${name} and then virtctl start ${name}` : `virtctl restart ${name}`;
}

function mayStart(strategy: RunStrategy): boolean {
  return strategy !== 'Halted' && strategy !== 'Manual';
}

function byIntention(observed: Observed): Answer | undefined {
  const { name, vm, vmi } = observed;
  if (!vm || (vmi && !isFinal(vmi))) return undefined;
  const strategy = runStrategyOf(vm);
  if (strategy === 'Always' || vm.status?.stateChangeRequests?.some(({ action }) => action === 'Start')) return undefined;
  const evidence = [
    `run strategy ${strategy}${vm.spec.running === undefined ? '' : ` (running: ${vm.spec.running})`}`,
    ...lastShutdown(observed),
  ];
  if (strategy === 'Halted' || (strategy === 'Manual' && !vmi))
    return blocked(`${name} is stopped, as its run strategy says`, evidence, `virtctl start ${name}`);
  if (vmi?.status?.phase === 'Failed' && strategy === 'RerunOnFailure') return undefined;
  if (!vmi && strategy !== 'Once') return undefined;
  return blocked(
    `the guest of ${name} ended, and its run strategy does not start it again`,
    evidence,
    strategy === 'Once' ? `kubectl delete vmi ${name}, or another run strategy` : `virtctl start ${name}`,
  );
}

function failed(observed: Observed): Answer | undefined {
  const { name, vm, vmi } = observed;
  if (!vmi || !isFinal(vmi)) return undefined;
  const { phase, reason } = vmi.status ?? {};
  const evidence = [`phase ${phase}${reason ? `, ${reason}` : ''}`, ...lastWarnings(observed)];
  if (vm) return blocked(`the guest of ${name} ended and is about to be started again`, evidence, 'wait a moment');
  return blocked(
    `the guest of ${name} ended, and an instance runs only once`,
    evidence,
    `kubectl delete vmi ${name}, then create it again`,
  );
}

function starting({ name, vmi, pod, now }: Observed): Answer | undefined {
  if (!vmi) return undefined;
  const { phase = 'Pending', phaseTransitionTimestamps } = vmi.status ?? {};
  const at =
    phaseTransitionTimestamps?.find((stamp) => stamp.phase === phase)?.phaseTransitionTimestamp ?? vmi.metadata.creationTimestamp ?? '';
  const evidence = [
    `phase ${phase} for ${humanDuration(now - Date.parse(at))}`,
    pod ? `Pod ${pod.metadata.name} is ${pod.status?.phase ?? 'new'}` : 'no Pod yet',
  ];
  return { isBlocked: false, what: `nothing blocks yet: ${name} is starting`, evidence, fix: `virtctl console ${name}` };
}

function lastShutdown({ vm }: Observed): string[] {
  const condition = vmCondition(vm, 'LastShutdown');
  return condition?.status === 'True'
    ? [`last shutdown ${condition.lastTransitionTime}: ${condition.reason}, ${condition.message ?? ''}`]
    : [];
}

function lastWarnings({ events, now }: Pick<Observed, 'events' | 'now'>): string[] {
  return events
    .filter(({ type }) => type === 'Warning')
    .slice(-3)
    .map(({ reason, message, lastTimestamp }) => `event ${reason}, ${ago(now - Date.parse(lastTimestamp))}: ${message}`);
}

/** What the instance said that failed last, if need be the one before this: it takes its reasons with it. */
function lastFailure({ events, pastEvents = [], now }: Observed): string[] {
  const here = lastWarnings({ events, now });
  return here.length > 0 ? here : lastWarnings({ events: pastEvents, now }).slice(-1);
}

function ago(ms: number): string {
  return `${humanDuration(ms)} ago`;
}

function blocked(what: string, evidence: readonly string[], fix: string): Answer {
  return { isBlocked: true, what, evidence, fix };
}
