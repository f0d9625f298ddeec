/**
 * What the node does that a guest is to leave. First match wins; the move is that of `status.migrationState` in every rule.
 *
 *   what is seen                                         what follows
 *   it is over, and the guest is still being sent        call it back
 *   it was begun and failed, and nobody said it is back  bring it back, even if it was sent: nobody lets it run elsewhere
 *   it was begun and failed, and it was brought back     write when it was: no other move is begun before
 *   it was not begun; the guest stands still for another call it back, then bring it back: that one is over
 *   it is over                                           nothing of ours
 *   it was not begun; abort is asked for, VMI is ending  failed
 *   it was not begun; suspended, dumped or backed up      failed
 *   it was not begun; sent in vain before, and paused    failed: QEMU sends it only when it has run since
 *   it was not begun; the target is not ready            wait
 *   it was not begun                                     write when it began, and send the guest
 *   it was begun by a virt-handler that is gone          call the guest back, then failed
 *   the guest is being sent; abort or VMI is ending      call it back
 *   the guest is being sent, and was reset meanwhile     call it back: what QEMU sends is half of one and half of the other
 *   the guest is being sent                              write how far it is, every two seconds
 *   the guest could not be sent                          failed
 *   the guest was sent, and QEMU has let go of it        hand over: in one write the instance is of the other node
 *   the guest was sent, and was reset here               failed: what was sent is not that guest any more
 *   the guest was sent, and runs here all the same       failed: somebody let it run on
 *   the guest was sent                                   look again: QEMU has to say that it has let go
 *
 * `completed` and `failed` are the two ends of a move, each is written only to a state that has neither, and nothing takes them away. Whoever
 * lets a guest run after it was sent has read one of them: the source `failed`, the target `completed`. So there are never two that run, and a
 * write whose outcome is unknown leaves the guest standing still until it has been read. With the next move both words are gone: therefore it is told
 * only when the source has written that it has acted on `failed` (`sourceNodeDomainReadyTimestamp`). If it is told all the same, as by a virt-controller
 * of a release that did not ask, then the move before was not completed, or this node would not be the source: what stands still for it is brought
 * back all the same. Pure.
 */

import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { hindranceOf, isComingBack } from '../../api/kubevirt/exclusive-operations.ts';
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
import { isSending } from './begin-hindrance.ts';
import { sendLimitsOf } from './send-limits.ts';
import { wasPausedLast } from './was-paused-last.ts';

type State = NonNullable<VmiStatus['migrationState']>;
type Seen = ObservedDomain & {
  readonly state: State;
  readonly sending: CommandState | undefined;
  readonly callingBack: CommandState | undefined;
  readonly bringingBack: CommandState | undefined;
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
  [({ state, domain }) => isComingBack(state) && !canBeAsked(domain), () => undefined],
  [(seen) => isComingBack(seen.state) && !isBack(seen), (seen) => bringBack(seen, 'the move is over, and the guest was not handed over')],
  [({ state }) => isComingBack(state), writeBack],
  [(seen) => !isBegun(seen) && isStillSent(seen), (seen) => callBack(seen, 'the move before this one is over')],
  [(seen) => !isBegun(seen) && standsStill(seen), (seen) => bringBack(seen, 'it stands still for a move before this one')],
  [({ state }) => !isMoving(state), () => undefined],
  [(seen) => !isBegun(seen) && isUnwanted(seen), (seen) => fail(seen, whyUnwanted(seen))],
  [(seen) => !isBegun(seen) && hindranceHere(seen) !== undefined, (seen) => fail(seen, hindranceHere(seen) ?? '')],
  [
    (seen) => !isBegun(seen) && seen.domain.state === 'moved',
    (seen) => fail(seen, 'the guest is paused, and was sent before in vain: unpause it first'),
  ],
  [(seen) => !isBegun(seen) && (seen.state.targetNodeAddress === undefined || !canBeSent(seen)), () => undefined],
  [(seen) => !isBegun(seen), begin],
  [
    ({ sending, callingBack }) => sending === undefined && callingBack?.is !== 'done',
    (seen) => callBack(seen, 'virt-handler was restarted'),
  ],
  [({ sending }) => sending === undefined, (seen) => fail(seen, 'virt-handler was restarted while the guest was sent')],
  [(seen) => seen.sending?.is === 'running' && isUnwanted(seen), (seen) => callBack(seen, whyUnwanted(seen))],
  [
    ({ sending, domain }) => sending?.is === 'running' && domain.state === 'prelaunch',
    (seen) => callBack(seen, 'the guest was reset while it was sent'),
  ],
  [({ sending }) => sending?.is === 'running', showProgress],
  [({ sending }) => sending?.is === 'failed', (seen) => fail(seen, seen.sending?.is === 'failed' ? seen.sending.reason : '')],
  [({ domain }) => domain.state === 'moved', handOver],
  [({ domain }) => domain.state === 'prelaunch', (seen) => fail(seen, 'the guest was reset while it was handed over')],
  [runsAllTheSame, (seen) => fail(seen, 'the guest runs on its node, though it was sent')],
  [() => true, () => ({ actions: [], lookAgainAfterMs: LOOK_MS })],
];

/**
 * QEMU has said so when it was asked for that, by this process: what is shown of it may be older, and a process before this one may have left a guest
 * that stands still, or whose disks are still copied.
 */
function isBack({ bringingBack }: Seen): boolean {
  if (bringingBack?.is !== 'done' || bringingBack.command.name !== 'call-back') return false;
  return !bringingBack.command.runs || !STANDING.includes(String(bringingBack.result));
}

/** What QEMU says of a guest that it does not let run, and that has not ended. */
const STANDING: readonly string[] = ['paused', 'prelaunch', 'finish-migrate', 'postmigrate', 'inmigrate'];

/** Of a move before this one. */
function isStillSent({ domain }: Seen): boolean {
  return (
    domain.state === 'switching' || Object.values(domain.commands).some(({ command, is }) => command.name === 'send' && is === 'running')
  );
}

/** For a move before this one: nobody is said to have paused it, and nobody has a moment ago. */
function standsStill({ vmi, domain, state }: Seen): boolean {
  if (vmiIs(vmi, 'Paused') || !canBeAsked(domain)) return false;
  return domain.state === 'moved' || (isMoving(state) && domain.state === 'paused' && !wasPausedLast(domain));
}

/** What else is done to it. */
function hindranceHere({ vmi }: Seen): string | undefined {
  return hindranceOf('move', { spec: vmi.spec, status: { ...vmi.status, migrationState: undefined } })?.why;
}

function canBeAsked({ isConnected, state }: Seen['domain']): boolean {
  return isConnected && state !== 'unresponsive';
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
  const [sending, callingBack, bringingBack] = [sendId, callBackId, bringBackId].map((idOf) => commands[idOf(state)]);
  const seen = { ...observed, state, sending, callingBack, bringingBack };
  return RULES.find(([matches]) => matches(seen))?.[1](seen);
}

function sendId({ migrationUid }: State): string {
  return `send ${migrationUid}`;
}

function callBackId({ migrationUid }: State): string {
  return `call back ${migrationUid}`;
}

function bringBackId({ migrationUid }: State): string {
  return `bring back ${migrationUid}`;
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
  return (
    domain.isConnected && !isSending({ domain }) && (domain.state === 'running' || (domain.state === 'paused' && vmiIs(vmi, 'Paused')))
  );
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

/** While it may yet be handed over: one that was sent stands still. */
function callBack(seen: Seen, because: string): DomainDecision {
  return giveCallBack(seen, { id: callBackId(seen.state), last: seen.callingBack, isKept: false, because });
}

/** When it cannot be handed over any more. */
function bringBack(seen: Seen, because: string): DomainDecision {
  return giveCallBack(seen, { id: bringBackId(seen.state), last: seen.bringingBack, isKept: true, because });
}

type CallBack = { readonly id: string; readonly last: CommandState | undefined; readonly isKept: boolean; readonly because: string };

function giveCallBack({ domain, vmi, now }: Seen, { id, last, isKept, because }: CallBack): DomainDecision {
  const isRunning = Object.values(domain.commands).some(({ command: { name }, is }) => name === 'call-back' && is === 'running');
  const isDue = !isRunning && (last === undefined || last.givenAt + AGAIN_MS <= now);
  const command = { name: 'call-back', disks: copiedDisksOf(vmi.spec), runs: !vmiIs(vmi, 'Paused'), isKept } as const;
  const actions: DomainAction[] = isDue && domain.isConnected ? [{ do: 'command', id, command, because }] : [];
  return { actions, lookAgainAfterMs: AGAIN_MS };
}

function writeBack(seen: Seen): DomainDecision {
  const migrationState = { sourceNodeDomainReadyTimestamp: timestamp(seen.now) };
  return { actions: [write(seen, { migrationState }, 'the guest is back')] };
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
