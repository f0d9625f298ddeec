import { EventList } from './event-list.tsx';
import { useSession } from './hooks.ts';

export function ActivityPage() {
  const { events } = useSession();
  return (
    <main>
      <header class="bar">
        <h1>Activity</h1>
      </header>
      <EventList events={events?.list() ?? []} />
    </main>
  );
}
