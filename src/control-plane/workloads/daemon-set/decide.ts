/**
 * What should happen to one DaemonSet, given the nodes and every Pod that may be its own.
 *
 *   when                                                       then
 *   an orphan fits the selector, or one of ours does not       adopt it, release it; nothing else in this pass
 *   the template has no revision, or not the newest            see template-revisions.ts; nothing else in this pass
 *   being deleted                                              write the status, nothing else
 *   a node should have a Pod and has none                      create one for this node (daemon-pod.ts)
 *   a node may not keep its Pod, or has more than one          delete it; the oldest stays
 *   a Pod has failed                                           delete it after ten seconds; the next pass replaces it
 *   RollingUpdate: a Pod of another revision                   delete as many as maxUnavailable allows, those first that serve nobody
 *   RollingUpdate with maxSurge                                create the new one beside it first; the old one goes when the new one serves
 *   OnDelete                                                   wait until somebody deletes it
 *
 * Pure: no clock, no I/O, no randomness.
 */
import { LABEL_CONTROLLER_REVISION_HASH } from '../../../api/core/controller-revision.ts';
import type { DaemonSet } from '../../../api/core/daemon-set.ts';
import { isPodFinal, type Pod } from '../../../api/core/pod.ts';
import { isControlledBy, isDeleting, refOf } from '../../../api/meta.ts';
import { diffAsMergePatch } from '../../../base/json.ts';
import { matchesLabels, requirementsOf } from '../../../base/selectors.ts';
import { adopt, release } from '../../../reconcile/decide-owner.ts';
import { type Action, type Decision, nothingToDo } from '../../../reconcile/decision.ts';
import { madeNames } from '../made-names.ts';
import { isPodActive, isPodAvailable, nextAvailableMs } from '../pod-state.ts';
import { updateRoom } from '../share.ts';
import { forgetRevisions, revisionHash, templateRevisions } from '../template-revisions.ts';
import { daemonPod, fitsNode, forNode, nodeOf } from './daemon-pod.ts';
import type { ObservedDaemonSet } from './observed.ts';
import { type DaemonNode, deriveDaemonSetStatus } from './status.ts';

/** A Pod that fails at once is not replaced at once. */
const FAILED_FOR_MS = 10_000;

/** The rules above, for one set. */
export function decideDaemonSet(observed: ObservedDaemonSet): Decision {
  const { set, pods, revisions, mayAdopt, now } = observed;
  if (requirementsOf(set.spec.selector).length === 0) return nothingToDo;
  const ownership = isDeleting(set) ? [] : adoptOrRelease(observed);
  if (ownership.length > 0) return { actions: ownership };
  const history = templateRevisions(set, revisions, mayAdopt);
  if (!isDeleting(set) && history.actions.length > 0) return { actions: history.actions };
  const hash = history.current ? revisionHash(history.current) : '';
  const mine = pods.filter((pod) => isControlledBy(pod, set));
  const nodes = nodesOf(observed, mine, hash);
  const status = writeStatus(set, nodes, { hash, now });
  if (isDeleting(set)) return { actions: status };
  const { failed, lookAgainAfterMs } = failedOf(mine, now);
  const update = rollOut(observed, nodes, hash);
  const actions = [...create(observed, { nodes, mine, hash, surging: update.surging }), ...misplaced(nodes), ...failed, ...update.actions];
  const inUse = new Set(mine.map(({ metadata }) => metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] ?? ''));
  const waits = [lookAgainAfterMs, nextAvailableMs(mine, set.spec.minReadySeconds, now)].filter((each) => each !== undefined);
  return {
    actions: actions.length > 0 ? actions : [...status, ...forgetRevisions(set, history, inUse)],
    ...(waits.length > 0 && { lookAgainAfterMs: Math.min(...waits) }),
  };
}

function adoptOrRelease({ set, pods, mayAdopt }: ObservedDaemonSet): Action[] {
  const requirements = requirementsOf(set.spec.selector);
  return pods.flatMap((pod) => {
    const isMine = isControlledBy(pod, set);
    const fits = matchesLabels(requirements, pod.metadata.labels);
    if (isMine && !fits) return [release(set, pod)];
    return !isMine && fits && mayAdopt && !isDeleting(pod) && !isPodFinal(pod) ? [adopt(set, pod)] : [];
  });
}

/** Every node, with the Pods that are there or on their way; nodes that are gone with what was left on them. */
function nodesOf({ set, nodes }: ObservedDaemonSet, mine: readonly Pod[], hash: string): DaemonNode[] {
  const byNode = Map.groupBy(mine.filter(isPodActive).toSorted(byAge), (pod) => nodeOf(pod) ?? '');
  const pattern = daemonPod(set, { name: '', hash });
  const known = new Set(nodes.map(({ metadata }) => metadata.name));
  const there = nodes.map((node) => ({ name: node.metadata.name, ...fitsNode(pattern, node), pods: byNode.get(node.metadata.name) ?? [] }));
  const lost = [...byNode].filter(([name]) => !known.has(name));
  return [...there, ...lost.map(([name, pods]) => ({ name, runs: false, stays: false, pods }))];
}

function isCurrent(pod: Pod, hash: string): boolean {
  return pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] === hash;
}

type Making = {
  readonly nodes: readonly DaemonNode[];
  readonly mine: readonly Pod[];
  readonly hash: string;
  readonly surging: readonly string[];
};

function create({ set, taken }: ObservedDaemonSet, { nodes, mine, hash, surging }: Making): Action[] {
  // A Pod that is going still has its place: host ports and claims are free when it is gone.
  const leaving = new Set(mine.filter((pod) => isDeleting(pod) || pod.status?.phase === 'Failed').map((pod) => nodeOf(pod) ?? ''));
  const empty = nodes.filter(({ name, runs, pods }) => runs && pods.length === 0 && !leaving.has(name)).map(({ name }) => name);
  const places = [...empty, ...surging];
  const names = madeNames({ owner: set, present: mine, taken, count: places.length });
  return places.map((node, i) => {
    const name = names[i] ?? '';
    return {
      do: 'create',
      object: forNode(daemonPod(set, { name, hash }), node),
      because: `node ${node} has none`,
      event: { type: 'Normal', reason: 'SuccessfulCreate', message: `Created pod: ${name}` },
    };
  });
}

/** Pods that may not stay, and those beyond the first of each revision. */
function misplaced(nodes: readonly DaemonNode[]): Action[] {
  return nodes.flatMap(({ name, stays, pods }) => {
    if (!stays) return pods.map((pod) => remove(pod, `node ${name} does not take it`));
    const seen = new Set<string>();
    return pods.flatMap((pod) => {
      const revision = pod.metadata.labels?.[LABEL_CONTROLLER_REVISION_HASH] ?? '';
      if (seen.has(revision)) return [remove(pod, `node ${name} has one already`)];
      seen.add(revision);
      return [];
    });
  });
}

function failedOf(mine: readonly Pod[], now: number): { failed: Action[]; lookAgainAfterMs?: number } {
  const failed = mine.filter((pod) => pod.status?.phase === 'Failed' && !isDeleting(pod));
  const dueAt = (pod: Pod) => Math.max(...endsOf(pod), Date.parse(pod.metadata.creationTimestamp ?? '') || 0) + FAILED_FOR_MS;
  const later = failed.map(dueAt).filter((at) => at > now);
  return {
    failed: failed.filter((pod) => dueAt(pod) <= now).map((pod) => remove(pod, 'it has failed')),
    ...(later.length > 0 && { lookAgainAfterMs: Math.min(...later) - now }),
  };
}

function endsOf({ status }: Pod): number[] {
  return (status?.containerStatuses ?? []).map(({ state }) => Date.parse(state?.terminated?.finishedAt ?? '') || 0);
}

/** Which old Pods go now, and which nodes get a new one beside the old. */
function rollOut({ set, now }: ObservedDaemonSet, nodes: readonly DaemonNode[], hash: string): { actions: Action[]; surging: string[] } {
  const { updateStrategy } = set.spec;
  if (updateStrategy?.type === 'OnDelete') return { actions: [], surging: [] };
  const wanted = nodes.filter(({ runs }) => runs);
  const { surge, unavailable } = updateRoom(updateStrategy?.rollingUpdate ?? { maxUnavailable: 1 }, wanted.length);
  const serves = (pod: Pod) => isPodAvailable(pod, set.spec.minReadySeconds, now);
  const stale = wanted.filter(({ pods }) => pods.length > 0 && pods.some((pod) => !isCurrent(pod, hash)));
  const replaced = stale.filter(({ pods }) => pods.some((pod) => isCurrent(pod, hash) && serves(pod)));
  const old = (node: DaemonNode) => node.pods.filter((pod) => !isCurrent(pod, hash));
  const go = (node: DaemonNode, because: string) => old(node).map((pod) => remove(pod, because));
  const done = replaced.flatMap((node) => go(node, 'the new one serves'));
  if (surge > 0) {
    const under = stale.filter(({ pods }) => pods.some((pod) => isCurrent(pod, hash)));
    const alone = stale.filter((node) => !under.includes(node));
    return { actions: done, surging: alone.slice(0, Math.max(0, surge - (under.length - replaced.length))).map(({ name }) => name) };
  }
  const idle = stale.filter((node) => !replaced.includes(node) && !old(node).some(serves));
  const serving = stale.filter((node) => !replaced.includes(node) && old(node).some(serves));
  const missing = wanted.filter(({ pods }) => !pods.some(serves)).length;
  const room = serving.slice(0, Math.max(0, unavailable - missing));
  const actions = [
    ...idle.flatMap((node) => go(node, 'it is of an old template and serves nobody')),
    ...room.flatMap((node) => go(node, 'it is of an old template')),
  ];
  return { actions: [...done, ...actions], surging: [] };
}

function remove(pod: Pod, because: string): Action {
  const message = `Deleted pod: ${pod.metadata.name}`;
  return { do: 'delete', target: refOf(pod), because, event: { type: 'Normal', reason: 'SuccessfulDelete', message } };
}

function byAge(a: Pod, b: Pod): number {
  const age = ({ metadata }: Pod) => metadata.creationTimestamp ?? '';
  return age(a).localeCompare(age(b)) || a.metadata.name.localeCompare(b.metadata.name);
}

function writeStatus(set: DaemonSet, nodes: readonly DaemonNode[], of: { hash: string; now: number }): Action[] {
  const status = deriveDaemonSetStatus(set, nodes, of);
  const patch = diffAsMergePatch(set.status ?? {}, status);
  if (patch === undefined) return [];
  const because = `${status.desiredNumberScheduled} nodes, ${status.numberReady} ready`;
  const { resourceVersion } = set.metadata;
  return [{ do: 'patch', target: refOf(set), subresource: 'status', patch: { status: patch }, resourceVersion, because }];
}
