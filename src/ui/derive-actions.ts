/** What can be done to a machine, why not, and the command that does the same. Pure. */

import { refusalOf, vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';

export const ACTIONS = ['start', 'stop', 'restart', 'pause', 'unpause', 'suspend', 'resume', 'migrate', 'delete'] as const;
export type Action = (typeof ACTIONS)[number];
/** What is done to many, too. */
export type BulkAction = Action | 'snapshot';
/** What the user has no right to do. */
export type Forbidden = ReadonlySet<BulkAction>;

export type ActionState = {
  readonly action: Action;
  /** Why it cannot be done now; undefined when it can. */
  readonly refusal: string | undefined;
  readonly command: string;
};

export const ACTION_WORDS: Readonly<Record<Action, string>> = {
  start: 'Start',
  stop: 'Stop',
  restart: 'Restart',
  pause: 'Pause',
  unpause: 'Unpause',
  suspend: 'Suspend',
  resume: 'Resume',
  migrate: 'Migrate',
  delete: 'Delete',
};

/** `forbidden` has what the user has no right to do in this namespace. */
export function deriveActions(machine: Machine, forbidden: Forbidden): ActionState[] {
  return ACTIONS.filter((action) => isShown(action, machine)).map((action) => ({
    action,
    refusal: forbidden.has(action) ? `you may not ${action} machines in ${machine.namespace}` : stateRefusal(action, machine),
    command: commandOf(action, machine),
  }));
}

/** Of two that exclude each other, the one that makes sense. */
function isShown(action: Action, { vm, vmi }: Machine): boolean {
  const isPaused = vmi?.status?.conditions?.some(({ type, status }) => type === 'Paused' && status === 'True') ?? false;
  if (action === 'pause') return vmi !== undefined && !isPaused;
  if (action === 'unpause') return isPaused;
  const isSuspended = vm?.status?.suspension !== undefined && vmi === undefined;
  if (action === 'suspend') return vm !== undefined && vmi !== undefined;
  if (action === 'resume') return isSuspended;
  if (action === 'migrate') return vm !== undefined && vmi !== undefined;
  return vm !== undefined || action === 'delete';
}

function stateRefusal(action: Action, { vm, vmi }: Machine): string | undefined {
  if (action === 'delete') return (vm ?? vmi)?.metadata.deletionTimestamp ? 'it is being deleted' : undefined;
  if (action === 'pause' || action === 'unpause') return vmi && vmiRefusalOf(action, vmi)?.message;
  return vm && refusalOf(action, { vm, ...(vmi && { vmi }) })?.message;
}

export function commandOf(action: Action, { namespace, name, vm }: Machine): string {
  if (action === 'delete') return `kubectl delete ${vm ? 'vm' : 'vmi'} ${name}${where(namespace)}`;
  if (action === 'pause' || action === 'unpause') return `virtctl ${action} vm ${name}${where(namespace)}`;
  return `virtctl ${action} ${name}${where(namespace)}`;
}
