/** What happened to one machine, and what was done to it. */
import { MIGRATIONS } from '../api/kubevirt/kinds/migration.ts';
import { VM_RESTORES } from '../api/kubevirt/kinds/vm-restore.ts';
import { VM_SNAPSHOTS } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { ActivityList } from './activity-list.tsx';
import { deriveActivity, eventsOf, operationsOf } from './derive-activity.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { useFollowed } from './use-followed.ts';

export function ActivityTab({ machine }: { readonly machine: Machine }) {
  const { events } = useSession();
  const migrations = useFollowed(MIGRATIONS, machine.namespace) ?? [];
  const snapshots = useFollowed(VM_SNAPSHOTS, machine.namespace) ?? [];
  const restores = useFollowed(VM_RESTORES, machine.namespace) ?? [];
  const operations = operationsOf(machine, { migrations, snapshots, restores });
  return <ActivityList activities={deriveActivity(eventsOf(machine, events?.list() ?? []), operations)} />;
}
