/** How a pod prints. Its status is a word worked out from many fields, not its phase. */
import type { JsonObject } from '../../../base/json.ts';
import { AGE, ageOf, at, type Column, listAt, NAME, numberAt, orNone, text, textAt } from './column.ts';

export const POD_COLUMNS: readonly Column[] = [
  NAME,
  text('Ready', readyContainers),
  text('Status', podStatus),
  text('Restarts', restarts),
  AGE,
  text('IP', (pod) => orNone(textAt(pod, 'status', 'podIPs', 0, 'ip') || textAt(pod, 'status', 'podIP')), 1),
  text('Node', (pod) => orNone(textAt(pod, 'spec', 'nodeName')), 1),
  text('Nominated Node', (pod) => orNone(textAt(pod, 'status', 'nominatedNodeName')), 1),
  text('Readiness Gates', readinessGates, 1),
];

function readyContainers(pod: JsonObject): string {
  const sidecars = listAt(pod, 'spec', 'initContainers').filter((container) => container['restartPolicy'] === 'Always');
  const names = new Set(sidecars.map(({ name }) => name));
  const statuses = [
    ...listAt(pod, 'status', 'containerStatuses'),
    ...listAt(pod, 'status', 'initContainerStatuses').filter(({ name }) => names.has(name)),
  ];
  const ready = statuses.filter((status) => status['ready'] === true && at(status, 'state', 'running') !== undefined);
  return `${ready.length}/${listAt(pod, 'spec', 'containers').length + sidecars.length}`;
}

/** Precedence, last first: being deleted, then trouble in init containers, then what the containers do, then reason and phase. */
function podStatus(pod: JsonObject): string {
  if (at(pod, 'metadata', 'deletionTimestamp') !== undefined) {
    return textAt(pod, 'status', 'reason') === 'NodeLost' ? 'Unknown' : 'Terminating';
  }
  const fallback = textAt(pod, 'status', 'reason') || textAt(pod, 'status', 'phase') || 'Unknown';
  const gated = listAt(pod, 'status', 'conditions').some(({ type, reason }) => type === 'PodScheduled' && reason === 'SchedulingGated');
  return initStatus(pod) ?? containerStatus(pod) ?? (gated ? 'SchedulingGated' : fallback);
}

/** `Init:0/2` while init containers run, `Init:reason` when one is stuck; undefined once they are through. */
function initStatus(pod: JsonObject): string | undefined {
  const specs = listAt(pod, 'spec', 'initContainers');
  const statuses = listAt(pod, 'status', 'initContainerStatuses');
  for (const [index, status] of statuses.entries()) {
    const isSidecar = specs.find(({ name }) => name === status['name'])?.['restartPolicy'] === 'Always';
    const terminated = at(status, 'state', 'terminated');
    if (terminated !== undefined && numberAt(terminated, 'exitCode') === 0) continue;
    if (isSidecar && status['started'] === true) continue;
    if (terminated !== undefined) return `Init:${endOf(terminated)}`;
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    if (waiting !== '' && waiting !== 'PodInitializing') return `Init:${waiting}`;
    return `Init:${index}/${specs.length}`;
  }
  return undefined;
}

/** The first container that has something to tell. */
function containerStatus(pod: JsonObject): string | undefined {
  const statuses = listAt(pod, 'status', 'containerStatuses');
  const words = statuses.map((status) => {
    const waiting = textAt(status, 'state', 'waiting', 'reason');
    const terminated = at(status, 'state', 'terminated');
    return waiting !== '' ? waiting : terminated !== undefined ? endOf(terminated) : undefined;
  });
  const word = words.find((found) => found !== undefined);
  const isAnyRunning = statuses.some((status) => status['ready'] === true && at(status, 'state', 'running') !== undefined);
  if (word !== 'Completed' || !isAnyRunning) return word;
  const isReady = listAt(pod, 'status', 'conditions').some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady ? 'Running' : 'NotReady';
}

function endOf(terminated: unknown): string {
  const reason = textAt(terminated, 'reason');
  if (reason !== '') return reason;
  const signal = numberAt(terminated, 'signal');
  return signal !== 0 ? `Signal:${signal}` : `ExitCode:${numberAt(terminated, 'exitCode')}`;
}

function restarts(pod: JsonObject, nowMs: number): string {
  const statuses = listAt(pod, 'status', 'containerStatuses');
  const total = statuses.reduce((sum, status) => sum + numberAt(status, 'restartCount'), 0);
  const ends = statuses.map((status) => textAt(status, 'lastState', 'terminated', 'finishedAt')).filter((end) => end !== '');
  const last = ends.sort().at(-1);
  return total === 0 || last === undefined ? String(total) : `${total} (${ageOf(last, nowMs)} ago)`;
}

function readinessGates(pod: JsonObject): string {
  const gates = listAt(pod, 'spec', 'readinessGates');
  if (gates.length === 0) return '<none>';
  const conditions = listAt(pod, 'status', 'conditions');
  const open = gates.filter((gate) => conditions.some(({ type, status }) => type === gate['conditionType'] && status === 'True'));
  return `${open.length}/${gates.length}`;
}
