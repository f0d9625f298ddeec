/**
 * What the node does with a guest whose memory is to be saved, or that goes on with saved memory. First match wins.
 *
 *   suspension   what is seen                                       what follows
 *   Saving       the instance is ending                             failed
 *   Saving       not begun; it is moved, dumped, backed up, frozen  failed
 *   Saving       not begun; its Pod does not listen, or no guest    wait
 *   Saving       not begun; no other QEMU would take its memory     failed
 *   Saving       not begun                                          write when it began, then stop the guest and save it
 *   Saving       begun by a virt-handler that is gone               failed
 *   Saving       being saved                                        wait
 *   Saving       could not be saved                                 failed
 *   Saving       saved                                              Saved, and the instance Succeeded, in one write
 *   Failed       the guest is being sent to another node            that of a move
 *   Failed       begun, and the guest stands still                  let it run on
 *   Failed       begun, and the guest runs                          say so: until then nobody forgets that it failed
 *   Resuming     the instance is ending                             like any that has not run
 *   Resuming     QEMU waits for the memory                          load it
 *   Resuming     it could not be loaded                             the instance Failed
 *   Resuming     it is loaded                                       Resumed, and the instance Running, in one write
 *   Resumed      the guest is being sent to another node            that of a move
 *   Resumed      of another machine, not told yet                   let it run, and tell it who it is
 *   Resumed      of another machine, could not be told              the instance Failed: its memory was used, the next start boots
 *   Resumed      the guest stands still                             let it run
 *   Resumed      the guest runs                                     forget the suspension; set the clock of the guest
 *
 * Saved and Failed are the two ends of saving: each is written on condition that the instance is as it was read, and a guest that was saved runs on
 * only after Failed was read. A loaded guest runs only after Resumed was read. So no memory runs twice, whoever is killed when. A guest that stands still
 * because it is sent to another node is let go on by the rules of the move alone. Pure.
 */
import { vmiIs } from '../../api/kubevirt/condition-reasons.ts';
import { isOnItsWay } from '../../api/kubevirt/exclusive-operations.ts';
import { hostnameOf } from '../../api/kubevirt/hostname.ts';
import type { VmiStatus } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { refOf } from '../../api/meta.ts';
import { timestamp } from '../../base/timestamp.ts';
import { macOf } from '../../qemu/convert/mac.ts';
import { cardIdOf } from '../../qemu/convert/network.ts';
import { interfacesOf } from '../../qemu/convert/root-bus.ts';
import type { Action, EventToRecord } from '../../reconcile/decision.ts';
import { whyOnlyHere } from '../hotplug/left-controller.ts';
import { guestHindranceOf, isSending } from '../migration/begin-hindrance.ts';
import type { DomainAction, DomainDecision } from '../vmi/domain-action.ts';
import type { CommandState, DomainCommand } from '../vmi/domain-command.ts';
import { mustStop, type ObservedDomain } from '../vmi/observed.ts';
import { isSavedGuest } from './saved-guest.ts';

type Suspension = NonNullable<VmiStatus['suspension']>;
type Seen = ObservedDomain & {
  readonly suspension: Suspension;
  readonly command: CommandState | undefined;
  /** How far the guest is on its way to be another machine. */
  readonly becoming: CommandState | undefined;
};
type Rule = readonly [phase: Suspension['phase'], when: (seen: Seen) => boolean, then: (seen: Seen) => DomainDecision | undefined];

const AGAIN_MS = 5_000;
const WAIT: DomainDecision = { actions: [] };
const BECOME = 'become-another';
/** States in which the processors are stopped and QEMU can be told to start them. */
const STANDING: readonly string[] = ['paused', 'moved', 'switching', 'prelaunch'];

const RULES: readonly Rule[] = [
  ['Saving', mustStop, (seen) => fail(seen, 'the instance is being stopped')],
  ['Saving', (seen) => !isBegun(seen) && guestHindranceOf('suspension', seen) !== undefined, (seen) => fail(seen, whyHindered(seen))],
  [
    'Saving',
    (seen) => !isBegun(seen) && (seen.suspension.podUID === undefined || seen.domain.state !== 'running' || isSending(seen)),
    () => undefined,
  ],
  ['Saving', (seen) => !isBegun(seen) && whyOnlyHere(seen.domain) !== undefined, (seen) => fail(seen, whyOnlyHere(seen.domain) ?? '')],
  ['Saving', (seen) => !isBegun(seen), begin],
  ['Saving', ({ command }) => command === undefined, (seen) => fail(seen, 'virt-handler was restarted while the guest was saved')],
  ['Saving', ({ command }) => command?.is === 'running', () => WAIT],
  ['Saving', ({ command }) => command?.is === 'failed', (seen) => fail(seen, seen.command?.is === 'failed' ? seen.command.reason : '')],
  ['Saving', () => true, writeSaved],
  ['Failed', (seen) => !isBegun(seen), () => undefined],
  ['Failed', isBeingSent, () => undefined],
  ['Failed', ({ domain }) => STANDING.includes(domain.state), (seen) => give(seen, { name: 'release' }, 'its memory was not saved')],
  ['Failed', ({ domain }) => domain.state === 'running', writeRunsOn],
  ['Failed', () => true, () => undefined],
  ['Resuming', mustStop, () => undefined],
  ['Resuming', ({ domain, command }) => domain.state === 'incoming' && command?.is !== 'failed', load],
  ['Resuming', ({ command }) => command?.is === 'failed', failToLoad],
  ['Resuming', ({ domain }) => domain.state === 'paused', writeResumed],
  ['Resuming', () => true, () => undefined],
  ['Resumed', isBeingSent, () => undefined],
  ['Resumed', (seen) => seen.suspension.origin !== undefined && seen.becoming?.is !== 'done', becomeAnother],
  ['Resumed', ({ domain }) => STANDING.includes(domain.state), (seen) => give(seen, { name: 'cont' }, 'the guest resumes')],
  ['Resumed', ({ domain }) => domain.state === 'running', forget],
  ['Resumed', () => true, () => undefined],
  ['Saved', () => true, () => undefined],
];

/** There is something to decide here, and a QEMU to tell. */
export function hasSuspension({ vmi, domain }: ObservedDomain): boolean {
  const { phase, suspension } = vmi.status ?? {};
  const isPlaced = phase === 'Scheduled' || phase === 'Running';
  return isPlaced && suspension !== undefined && domain.isConnected && domain.state !== 'unresponsive' && !domain.isGone;
}

/** Applies the first rule that matches; undefined when the guest is like any other for now. */
export function decideSuspension(observed: ObservedDomain): DomainDecision | undefined {
  const suspension = observed.vmi.status?.suspension;
  if (!suspension) return undefined;
  const id = suspension.phase === 'Saving' ? saveId(suspension) : 'load';
  const seen = { ...observed, suspension, command: observed.domain.commands[id], becoming: observed.domain.commands[BECOME] };
  return RULES.find(([phase, when]) => phase === suspension.phase && when(seen))?.[2](seen);
}

function saveId({ requestedTimestamp }: Suspension): string {
  return `save ${requestedTimestamp}`;
}

function isBegun({ suspension }: Seen): boolean {
  return suspension.startTimestamp !== undefined;
}

/** The write first: whoever finds it without the command knows that a virt-handler was killed. */
function begin(seen: Seen): DomainDecision {
  const { suspension, now } = seen;
  const because = 'its memory can be written';
  const command = { name: 'save', podUid: suspension.podUID ?? '' } as const;
  return {
    actions: [
      write(seen, { suspension: { startTimestamp: timestamp(now) } }, because),
      { do: 'command', id: saveId(suspension), command, because },
    ],
  };
}

function whyHindered(seen: Seen): string {
  return guestHindranceOf('suspension', seen)?.why ?? '';
}

/** What was sent may run elsewhere, until somebody has written that it failed. */
function isBeingSent(seen: Seen): boolean {
  const state = seen.vmi.status?.migrationState;
  return isSending(seen) || (isOnItsWay(state) && state?.startTimestamp !== undefined);
}

function fail(seen: Seen, message: string): DomainDecision {
  return { actions: [write(seen, { suspension: { phase: 'Failed', message } }, message)] };
}

function writeRunsOn(seen: Seen): DomainDecision {
  return { actions: [write(seen, { suspension: { startTimestamp: null } }, 'the guest runs on')] };
}

function writeSaved(seen: Seen): DomainDecision {
  const result = seen.command?.is === 'done' ? seen.command.result : undefined;
  if (!isSavedGuest(result)) return fail(seen, 'nobody said what was saved');
  const { digest, bytes } = result;
  const stamps = seen.vmi.status?.phaseTransitionTimestamps ?? [];
  const status = {
    phase: 'Succeeded' as const,
    reason: 'Suspended',
    phaseTransitionTimestamps: [...stamps, { phase: 'Succeeded' as const, phaseTransitionTimestamp: timestamp(seen.now) }],
    suspension: { phase: 'Saved' as const, digest, bytes, guestAgent: vmiIs(seen.vmi, 'AgentConnected') },
  };
  const message = `The memory of the guest was saved, ${Math.ceil(bytes / 2 ** 20)} MiB.`;
  return { actions: [write(seen, status, 'its memory is saved', { type: 'Normal', reason: 'SuccessfulSuspended', message })] };
}

function load(seen: Seen): DomainDecision {
  if (seen.command !== undefined) return WAIT;
  return { actions: [{ do: 'command', id: 'load', command: { name: 'load' }, because: 'the guest resumes with saved memory' }] };
}

function failToLoad(seen: Seen): DomainDecision {
  const why = seen.command?.is === 'failed' ? seen.command.reason : '';
  const message = `its memory could not be loaded: ${why}`;
  const status = { phase: 'Failed' as const, reason: 'LauncherFailed', suspension: { message } };
  return { actions: [write(seen, status, message, { type: 'Warning', reason: 'ResumeFailed', message: `${message}.` })] };
}

function writeResumed(seen: Seen): DomainDecision {
  const because = 'its memory is loaded';
  const stamps = seen.vmi.status?.phaseTransitionTimestamps ?? [];
  const status = {
    phase: 'Running' as const,
    phaseTransitionTimestamps: [...stamps, { phase: 'Running' as const, phaseTransitionTimestamp: timestamp(seen.now) }],
    suspension: { phase: 'Resumed' as const },
  };
  const event = { type: 'Normal', reason: 'SuccessfulResumed', message: 'The guest has resumed where it was suspended.' } as const;
  return { actions: [write(seen, status, because, event)] };
}

function becomeAnother(seen: Seen): DomainDecision | undefined {
  const { vmi, becoming } = seen;
  if (mustStop(seen)) return undefined;
  if (becoming?.is === 'running') return WAIT;
  if (becoming?.is === 'failed') {
    const message = `its guest could not become a machine of its own: ${becoming.reason}`;
    const status = { phase: 'Failed' as const, reason: 'LauncherFailed', suspension: { message } };
    return { actions: [write(seen, status, message, { type: 'Warning', reason: 'ResumeFailed', message: `${message}.` })] };
  }
  const cards = interfacesOf(vmi.spec).map((card, index) => ({ device: cardIdOf(index), mac: macOf(vmi, card) }));
  const command = { name: BECOME, as: { hostname: hostnameOf(vmi), cards } } as const;
  return { actions: [{ do: 'command', id: BECOME, command, because: 'its memory is that of another machine' }] };
}

function forget(seen: Seen): DomainDecision {
  const because = 'the guest runs again';
  return { actions: [{ do: 'set clock', because }, write(seen, { suspension: null }, because)] };
}

type Simple = DomainCommand & { readonly name: 'cont' | 'release' };

function give({ domain, now }: Seen, command: Simple, because: string): DomainDecision {
  const last = domain.commands[command.name];
  const isDue = last === undefined || (last.is !== 'running' && last.givenAt + AGAIN_MS <= now);
  const actions: DomainAction[] = isDue ? [{ do: 'command', id: command.name, command, because }] : [];
  return { actions, lookAgainAfterMs: AGAIN_MS };
}

type Change = Omit<Partial<VmiStatus>, 'suspension'> & { readonly suspension: SuspensionChange | null };
type SuspensionChange = { readonly [Field in keyof Suspension]?: Suspension[Field] | null };

function write({ vmi }: Seen, status: Change, because: string, event?: EventToRecord): Action {
  const { resourceVersion = '' } = vmi.metadata;
  return { do: 'patch', target: refOf(vmi), patch: { status }, resourceVersion, because, ...(event && { event }) };
}
