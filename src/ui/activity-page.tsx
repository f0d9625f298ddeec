import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { ActivityList } from './activity-list.tsx';
import { deriveActivity } from './derive-activity.ts';
import { deriveImageRows } from './derive-images.ts';
import { deriveMachines } from './derive-machines.ts';
import { deriveMove } from './derive-move.ts';
import { useSession } from './hooks.ts';
import { MoveBar } from './move-bar.tsx';
import { PlaceLink } from './place-link.tsx';
import { useFollowed } from './use-followed.ts';

export function ActivityPage() {
  const { events } = useSession();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach
    <main tabIndex={0}>
      <header class="bar">
        <h1>Activity</h1>
      </header>
      <UnderWay />
      <ActivityList activities={deriveActivity(events?.list() ?? [])} />
    </main>
  );
}

/** What takes a while, and is not over. */
function UnderWay() {
  const session = useSession();
  const volumes = useFollowed(DATA_VOLUMES, session.namespace);
  const machines = deriveMachines(session.vms.list(), session.vmis.list());
  const moved = machines.filter((machine) => deriveMove(machine)?.isFailed === false);
  const filled = deriveImageRows(volumes ?? [], [], []).filter(({ tone }) => tone === 'busy');
  if (moved.length + filled.length === 0) return null;
  return (
    <section aria-labelledby="under-way">
      <h2 id="under-way">Under way</h2>
      {moved.map((machine) => (
        <MoveBar key={machine.key} machine={machine} isNamed={true} />
      ))}
      {filled.map(({ key, name, namespace, phase, share }) => (
        <div key={key} class="moving" role="status">
          <PlaceLink to={{ page: 'images' }}>{name}</PlaceLink> in {namespace}: {phase}.{' '}
          <progress aria-label={`Disk ${name}`} {...(share !== undefined && { value: share })} max={1} />
        </div>
      ))}
    </section>
  );
}
