import { ActivityList } from './activity-list.tsx';
import { deriveActivity } from './derive-activity.ts';
import { useSession } from './hooks.ts';

export function ActivityPage() {
  const { events } = useSession();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach
    <main tabIndex={0}>
      <header class="bar">
        <h1>Activity</h1>
      </header>
      <ActivityList activities={deriveActivity(events?.list() ?? [])} />
    </main>
  );
}
