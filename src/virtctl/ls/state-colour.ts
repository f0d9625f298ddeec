/** What a state means at a glance. Pure. */
import type { Colour } from '../colour.ts';

const GOOD: readonly string[] = ['Running', 'Succeeded', 'Bound', 'Ready'];
const IDLE: readonly string[] = ['Stopped', 'Halted', 'Suspended'];
const WAITING: readonly string[] = [
  'Starting',
  'Stopping',
  'Provisioning',
  'WaitingForVolumeBinding',
  'Migrating',
  'Suspending',
  'Resuming',
  'Paused',
  'Pending',
  'Scheduling',
  'Scheduled',
  'Terminating',
];
const BAD = /BackOff|^Err|Failed|Unschedulable|Crash|Unknown|NotFound|Error/;

/** Undefined for a cell that is no state. */
export function stateColour(cell: string): Colour | undefined {
  if (GOOD.includes(cell)) return 'green';
  if (IDLE.includes(cell)) return 'dim';
  if (WAITING.includes(cell)) return 'yellow';
  return /^[A-Z][A-Za-z]+$/.test(cell) && BAD.test(cell) ? 'red' : undefined;
}
