/**
 * What the node does that a guest is to leave. First match wins; the move is that of `status.migrationState` in every rule.
 *
 *   what is seen                                         what follows
 *   it is over, and the guest is still being sent        call it back
 *   it failed after the guest was sent                   let the guest run on here: nobody lets it run elsewhere
 *   it failed, begun by a virt-handler that is gone      call the guest back, once: it may stand still for it
 *   it is over                                           nothing of ours
 *   it was not begun; abort is asked for, VMI is ending  failed
 *   it was not begun; suspended, dumped or backed up      failed
 *   it was not begun; the target is not ready            wait
 *   it was not begun                                     write when it began, and send the guest
 *   it was begun by a virt-handler that is gone          call the guest back, then failed
 *   the guest is being sent; abort or VMI is ending      call it back
 *   the guest is being sent                              write how far it is, every two seconds
 *   the guest could not be sent                          failed
 *   the guest was sent, and QEMU has let go of it        hand over: in one write the instance is of the other node
 *   the guest was sent, and runs here all the same       failed: somebody let it run on
 *   the guest was sent                                   look again: QEMU has to say that it has let go
 *
 * `completed` and `failed` are the two ends of a move, each is written only to a state that has neither, and nothing takes them away. Whoever
 * lets a guest run after it was sent has read one of them: the source `failed`, the target `completed`. So there are never two that run, and a
 * write whose outcome is unknown leaves the guest standing still until it has been read. Pure.
 */

import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { hindranceOf } from '../../api/kubevirt/exclusive-operations.ts';
import { isMoving } from '../../api/kubevirt/kinds/migration.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { LABEL_NODE_NAME } from '../../api/kubevirt/names.ts';
import { refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { copiedDisksOf } from '../../qemu/convert/copied-disks.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import type { DomainAction, DomainDecision } from '../vmi/domain-action.ts';
import type { CommandState, Sent } from '../vmi/domain-command.ts';
import { mustStop, type ObservedDomain } from '../vmi/observed.ts';
import { sendLimitsOf } from './send-limits.ts';

type State = NonNullable<VmiStatus['migrationState']>;
type Seen = ObservedDomain & {
  readonly state: State;
  readonly sending: CommandState | undefined;
  readonly callingBack: CommandState | undefined;
};

const AGAIN_MS = 5_000;
const LOOK_MS = 1_000;
/** What QEMU says of a guest is newer than this. */
const STALE_MS = 10_000;
/** Each write is one for all who look at the instance. */
const PROGRESS_MS = 2_000;

const RULES: readonly [when: (seen: Seen) => boolean, then: (seen: Seen) => DomainDecision | undefined][] = [
  [
    ({ state, sending, domain }) => !isMoving(state) && (sending?.is === 'running' || domain.state === 'switching'),
    (seen) => callBack(seen, 'the move is over'),
  ],
  [({ state, domain }) => state.failed === true && domain.state === 'moved', letRunOn],
  [wasCutOff, (seen) => callBack(seen, 'virt-handler was restarted, and the move is over')],
  [({ state }) => !isMoving(state), () => undefined],
  [(seen) => !isBegun(seen) && isUnwanted(seen), (seen) => fail(seen, whyUnwanted(seen))],
  [(seen) => !isBegun(seen) && hindranceOf('move', seen.vmi) !== undefined, (seen) => fail(seen, hindranceOf('move', seen.vmi)?.why ?? '')],
  [(seen) => !isBegun(seen) && (seen.state.targetNodeAddress === undefined || !canBeSent(seen)), () => undefined],
  [(seen) => !isBegun(seen), begin],
  [
    ({ sending, callingBack }) => sending === undefined && callingBack?.is !== 'done',
    (seen) => callBack(seen, 'virt-handler was restarted'),
  ],
  [({ sending }) => sending === undefined, (seen) => fail(seen, 'virt-handler was restarted while the guest was sent')],
  [(seen) => seen.sending?.is === 'running' && isUnwanted(seen), (seen) => callBack(seen, whyUnwanted(seen))],
  [({ sending }) => sending?.is === 'running', showProgress],
  [({ sending }) => sending?.is === 'failed', (seen) => fail(seen, seen.sending?.is === 'failed' ? seen.sending.reason : '')],
  [({ domain }) => domain.state === 'moved', handOver],
  [runsAllTheSame, (seen) => fail(seen, 'the guest runs on its node, though it was sent')],
  [() => true, () => ({ actions: [], lookAgainAfterMs: LOOK_MS })],
];

/**
 * Nobody here knows what became of a move that was begun, and somebody else has said that it failed: the guest may stand still for it, and its disks
 * may still be copied. Once, before anybody can have paused it since.
 */
function wasCutOff({ state, sending, callingBack, domain, vmi }: Seen): boolean {
  const isBegunAndFailed = state.failed === true && state.startTimestamp !== undefined;
  return isBegunAndFailed && !sending && !callingBack && domain.isConnected && domain.state !== 'moved' && !vmiIs(vmi, 'Paused');
}

/** The guest is in the Pod that the last move was to leave. */
export function isSource({ vmi, pod }: ObservedDomain): boolean {
  const state = vmi.status?.migrationState;
  return (
    vmi.status?.phase === 'Running' && state !== undefined && !state.completed && pod !== undefined && state.sourcePod === pod.metadata.name
  );
}

/** Applies the first rule that matches; undefined when the guest is like any other for now. */
export function decideSource(observed: ObservedDomain): DomainDecision | undefined {
  const state = observed.vmi.status?.migrationState ?? {};
  const { commands } = observed.domain;
  const seen = { ...observed, state, sending: commands[sendId(state)], callingBack: commands[callBackId(state)] };
  return RULES.find(([matches]) => matches(seen))?.[1](seen);
}

function sendId({ migrationUid }: State): string {
  return `send ${migrationUid}`;
}

function callBackId({ migrationUid }: State): string {
  return `call back ${migrationUid}`;
}

function isBegun({ state }: Seen): boolean {
  return state.startTimestamp !== undefined;
}

function isUnwanted(seen: Seen): boolean {
  return seen.state.abortRequested === true || mustStop(seen);
}

function whyUnwanted({ state }: Seen): string {
  return state.abortRequested ? 'the migration was cancelled' : 'the instance is being deleted';
}

/** One that was paused a moment ago is said to be first: whether it is to go on follows from that. */
function canBeSent({ vmi, domain }: Seen): boolean {
  return domain.isConnected && (domain.state === 'running' || (domain.state === 'paused' && vmiIs(vmi, 'Paused')));
}

function begin(seen: Seen): DomainDecision {
  const { vmi, state, now } = seen;
  const because = `node ${state.targetNode} is ready to take the guest`;
  const told = event('Migrating', `The guest is being moved to node ${state.targetNode}.`);
  const written = write(seen, { migrationState: { startTimestamp: timestamp(now), mode: 'PreCopy' } }, because, told);
  const to = { host: state.targetNodeAddress ?? '', port: portOf(state), migrationUid: state.migrationUid ?? '' };
  const command = {
    name: 'send',
    disks: copiedDisksOf(vmi.spec),
    to,
    limits: sendLimitsOf(vmi, state),
    runs: !vmiIs(vmi, 'Paused'),
  } as const;
  return { actions: [written, { do: 'command', id: sendId(state), command, because }] };
}

/** The one that is published; what comes there is for the door itself. */
function portOf({ targetDirectMigrationNodePorts = {} }: State): number {
  return Number(Object.keys(targetDirectMigrationNodePorts)[0] ?? 0);
}

function callBack(seen: Seen, because: string): DomainDecision {
  const { state, callingBack, domain, vmi, now } = seen;
  const isDue = callingBack === undefined || (callingBack.is !== 'running' && callingBack.givenAt + AGAIN_MS <= now);
  const command = { name: 'call-back', disks: copiedDisksOf(vmi.spec), runs: !vmiIs(vmi, 'Paused') } as const;
  const actions: DomainAction[] = isDue && domain.isConnected ? [{ do: 'command', id: callBackId(state), command, because }] : [];
  return { actions, lookAgainAfterMs: AGAIN_MS };
}

function letRunOn(seen: Seen): DomainDecision | undefined {
  const { domain, now, vmi } = seen;
  if (vmiIs(vmi, 'Paused')) return undefined;
  const last = domain.commands['cont'];
  const isDue = domain.isConnected && (last === undefined || (last.is !== 'running' && last.givenAt + AGAIN_MS <= now));
  const because = 'the guest was not handed over';
  return { actions: isDue ? [{ do: 'command', id: 'cont', command: { name: 'cont' }, because }] : [], lookAgainAfterMs: AGAIN_MS };
}

/** Not at the end of it: a guest that stands still is not to wait until a write of this kind has come back. */
function showProgress(seen: Seen): DomainDecision | undefined {
  const { sending, state, domain, now } = seen;
  const progress = sending?.is === 'running' ? sending.progress : undefined;
  if (!progress || domain.state === 'switching') return undefined;
  const waitMs = Date.parse(state.progress?.lastUpdate ?? state.startTimestamp ?? '') + PROGRESS_MS - now;
  if (waitMs > 0) return undefined;
  const { isStandingStill, ...shown } = progress;
  const mode = isStandingStill ? 'Paused' : 'PreCopy';
  const change = { migrationState: { mode, progress: { ...shown, lastUpdate: timestamp(now) } } } as const;
  return { actions: [write(seen, change, 'the copy is further than it was')] };
}

/** First the word, then the guest: it runs on by itself unless it was sent, and then the rule above lets it. */
function fail(seen: Seen, failureReason: string): DomainDecision {
  const abort = seen.state.abortRequested ? ({ abortStatus: 'Succeeded' } as const) : {};
  const migrationState = { failed: true, failureReason, endTimestamp: timestamp(seen.now), ...abort };
  const told: EventToRecord = { type: 'Warning', reason: 'Migrated', message: `The guest stays on its node: ${failureReason}.` };
  return { actions: [write(seen, { migrationState }, failureReason, told)] };
}

/** With what was sent: most moves are over before anybody was told how far they are. */
function handOver(seen: Seen): DomainDecision {
  const { sending, now } = seen;
  const { targetNode = '' } = seen.state;
  const sent = sending?.is === 'done' ? (sending.result as Sent | undefined) : undefined; // of the command that sends
  const progress = sent && { progress: { ...sent, lastUpdate: timestamp(now) } };
  const migrationState = { completed: true, endTimestamp: timestamp(now), ...progress };
  const told = event('Migrated', `The guest was moved to node ${targetNode}.`);
  const labels = { [LABEL_NODE_NAME]: targetNode };
  return { actions: [write(seen, { migrationState, nodeName: targetNode, labels }, `the guest is on node ${targetNode}`, told)] };
}

/** Nobody lets it run elsewhere before it is handed over, so it may. */
function runsAllTheSame({ sending, domain, now }: Seen): boolean {
  return domain.state === 'running' && sending?.is === 'done' && sending.endedAt + STALE_MS <= now;
}

type Change = { readonly migrationState: Partial<State>; readonly nodeName?: string; readonly labels?: Readonly<Record<string, string>> };

/** On condition that nobody has written since: the end of a move is decided once. */
function write({ vmi }: Seen, { labels, ...status }: Change, because: string, told?: EventToRecord): Action {
  const patch = { status, ...(labels && { metadata: { labels } }) };
  return { do: 'patch', target: refOf(vmi), patch, resourceVersion: vmi.metadata.resourceVersion, because, ...(told && { event: told }) };
}

function event(reason: 'Migrating' | 'Migrated', message: string): EventToRecord {
  return { type: 'Normal', reason, message };
}
