/** What happened, newest first. */
import type { Event } from '../api/core/event.ts';
import { humanDuration } from '../base/duration.ts';
import { escapeToOneLine } from '../base/escape-unprintable.ts';
import { useNow } from './hooks.ts';

const MAX_SHOWN = 500;

export function EventList({ events }: { readonly events: readonly Event[] }) {
  const now = useNow();
  const sorted = events.toSorted((a, b) => timeOf(b) - timeOf(a)).slice(0, MAX_SHOWN);
  if (sorted.length === 0) return <p>Nothing happened lately. Events are kept for an hour.</p>;
  return (
    <table class="events">
      <thead>
        <tr>
          <th scope="col">When</th>
          <th scope="col">About</th>
          <th scope="col">What</th>
        </tr>
      </thead>
      <tbody>
        {sorted.map((event) => (
          <tr key={event.metadata.uid} class={event.type === 'Warning' ? 'warning' : ''}>
            <td class="faint">{humanDuration(now - timeOf(event))}</td>
            <td>
              {event.involvedObject.kind} {event.involvedObject.name}
            </td>
            <td>
              <strong>
                {event.type === 'Warning' ? '▲ ' : ''}
                {event.reason}
              </strong>{' '}
              {escapeToOneLine(event.message ?? '')}
              {event.count > 1 && <span class="faint"> ×{event.count}</span>}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function timeOf({ lastTimestamp, metadata }: Event): number {
  return Date.parse(lastTimestamp ?? metadata.creationTimestamp ?? '') || 0;
}
