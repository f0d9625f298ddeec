/** How long each step of the last start took, as far as anybody told. */
import type { GuestStart } from '../api/handler/usage-history.ts';
import { eventsOf } from './derive-activity.ts';
import type { Machine } from './derive-machines.ts';
import { deriveTimeline } from './derive-timeline.ts';
import { useSession } from './hooks.ts';

type Props = { readonly machine: Machine; readonly start: GuestStart | undefined };

export function StartTimeline({ machine, start }: Props) {
  const { events } = useSession();
  const { vmi } = machine;
  if (!vmi) return <p>It does not run.</p>;
  const steps = deriveTimeline({ vmi, events: eventsOf(machine, events?.list() ?? []), start });
  const last = steps.at(-1);
  const whole = Math.max(1, last?.atSeconds ?? 1);
  return (
    <ol class="timeline">
      {steps.map(({ what, atSeconds, tookSeconds }) => (
        <li key={what}>
          <span>{what}</span>
          <span class="track" aria-hidden="true">
            <span
              style={{
                marginLeft: `${Math.min(98, ((atSeconds - tookSeconds) / whole) * 100)}%`,
                width: `${(tookSeconds / whole) * 100}%`,
              }}
            />
          </span>
          <span class="faint">{tookSeconds === 0 ? 'at once' : `${tookSeconds} s`}</span>
        </li>
      ))}
      {last && (
        <li class="all">
          <span>In all</span>
          <span />
          <span>{last.atSeconds} s</span>
        </li>
      )}
    </ol>
  );
}
