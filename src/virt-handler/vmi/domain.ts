/** A guest as its QEMU shows it: what QMP said last, and whether anybody is still there to say more. */
import { isObject } from '../../base/json.ts';
import type { Plugged } from '../hotplug/plugged.ts';
import type { CommandStates } from './domain-command.ts';

export type DomainState =
  /** Nobody was asked yet. */
  | 'connecting'
  /** There is no socket: QEMU has not been started. */
  | 'absent'
  /** QEMU waits to be told to start its processors. */
  | 'prelaunch'
  | 'running'
  | 'paused'
  | 'io-error'
  /** The guest powered off; QEMU stays until told to quit. */
  | 'shutdown'
  | 'panicked'
  /** The guest fell silent, and its watchdog stopped it for good. */
  | 'watchdog'
  /** QEMU waits for a guest that is moved here. */
  | 'incoming'
  /** The guest is about to be moved: its processors are stopped, and it is still here. */
  | 'switching'
  /** The guest was sent: its processors are stopped, and its disks are not used any more. */
  | 'moved'
  /** QEMU is there and does not answer. */
  | 'unresponsive';

export type Domain = {
  /** Outlives the process: a guest that powered off stays `shutdown` when its QEMU is gone. */
  readonly state: DomainState;
  /** Commands can be sent. */
  readonly isConnected: boolean;
  /** The process has ended. */
  readonly isGone: boolean;
  /** Why the guest stopped, in QEMU's words: guest-shutdown, host-signal, ... */
  readonly shutdownReason?: string;
  /** What was asked of it, and what became of that. */
  readonly commands: CommandStates;
  /** Hardware addresses of the network cards, in their order. */
  readonly macs?: readonly string[];
  /** What is plugged in, and where there is room. */
  readonly plugged?: Plugged;
  /** Something in the guest has opened the port of the guest agent. */
  readonly isAgentOpen?: boolean;
};

/** Before anything is known. */
export const unknownDomain: Domain = { state: 'connecting', isConnected: false, isGone: false, commands: {} };

const STATES: Readonly<Record<string, DomainState>> = {
  running: 'running',
  suspended: 'running',
  // While its memory is dumped it stands still, and goes on by itself.
  'save-vm': 'running',
  prelaunch: 'prelaunch',
  'io-error': 'io-error',
  shutdown: 'shutdown',
  'guest-panicked': 'panicked',
  'internal-error': 'panicked',
  watchdog: 'watchdog',
  inmigrate: 'incoming',
  'finish-migrate': 'switching',
  postmigrate: 'moved',
};

/** The state that an answer to query-status stands for. What we have no word for is running or not, and QEMU says which. */
export function stateFrom(answer: unknown): DomainState {
  const { status, running } = isObject(answer) ? answer : {};
  const known = typeof status === 'string' && Object.hasOwn(STATES, status) ? STATES[status] : undefined;
  return known ?? (running === true ? 'running' : 'paused');
}

/** How the guest ended is known, whatever happens to the process now. */
export function hasEnded({ state }: Domain): boolean {
  return state === 'shutdown' || state === 'panicked' || state === 'watchdog';
}
