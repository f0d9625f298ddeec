/** What happened, newest first. */
import { useState } from 'preact/hooks';
import { humanDuration } from '../base/duration.ts';
import type { Activity } from './derive-activity.ts';
import { useNow } from './hooks.ts';

export function ActivityList({ activities }: { readonly activities: readonly Activity[] }) {
  const now = useNow();
  const [isWarningsOnly, setWarningsOnly] = useState(false);
  const shown = isWarningsOnly ? activities.filter(({ isWarning }) => isWarning) : activities;
  return (
    <>
      <p class="buttons">
        <label>
          <input type="checkbox" checked={isWarningsOnly} onChange={(event) => setWarningsOnly(event.currentTarget.checked)} />
          Only warnings
        </label>
      </p>
      {shown.length === 0 ? (
        <p>Nothing {isWarningsOnly ? 'went wrong' : 'happened'} lately. Events are kept for an hour.</p>
      ) : (
        <table class="events">
          <thead>
            <tr>
              <th scope="col">When</th>
              <th scope="col" class="wide">
                About
              </th>
              <th scope="col">What</th>
            </tr>
          </thead>
          <tbody>
            {shown.map(({ key, atMs, about, what, message, isWarning, count }) => (
              <tr key={key} class={isWarning ? 'warning' : ''}>
                <td class="faint" title={new Date(atMs).toLocaleString()}>
                  {humanDuration(now - atMs)}
                </td>
                <td class="wide">{about}</td>
                <td>
                  <strong>
                    {isWarning ? '▲ ' : ''}
                    {what}
                  </strong>{' '}
                  {message} <span class="faint only-narrow">{about}</span>
                  {count > 1 && <span class="faint"> ×{count}</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
