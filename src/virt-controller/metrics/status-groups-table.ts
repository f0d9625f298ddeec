/** Which words for the state of a machine go together in metrics. */

export const STATUS_GROUPS = ['starting', 'running', 'migrating', 'non_running', 'error'] as const;
export type StatusGroup = (typeof STATUS_GROUPS)[number];

/** What is none of these went wrong. */
const GROUPS: Readonly<Record<string, StatusGroup>> = {
  Provisioning: 'starting',
  Starting: 'starting',
  WaitingForVolumeBinding: 'starting',
  WaitingForReceiver: 'starting',
  Running: 'running',
  Migrating: 'migrating',
  Stopped: 'non_running',
  Stopping: 'non_running',
  Paused: 'non_running',
  Suspended: 'non_running',
  Terminating: 'non_running',
};

export function statusGroupOf(status: string): StatusGroup {
  return GROUPS[status] ?? 'error';
}
