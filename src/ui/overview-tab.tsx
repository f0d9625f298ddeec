/** What a machine does and why, what it is, how it started, how to reach it, and what it uses. */

import { useEffect, useState } from 'preact/hooks';
import { systemClock } from '../base/clock.ts';
import { humanDuration } from '../base/duration.ts';
import { decideWhy } from '../sdk/why/decide.ts';
import { observeWhy } from '../sdk/why/observe.ts';
import type { Answer } from '../sdk/why/observed.ts';
import { CommandLine } from './command-line.tsx';
import { OVERVIEW_SECONDS, RANGES } from './derive-charts.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';
import { GuestInfo } from './guest-info.tsx';
import { useNow, useSession } from './hooks.ts';
import { ScreenPicture } from './screen-picture.tsx';
import { StartTimeline } from './start-timeline.tsx';
import { UsageCharts } from './usage-charts.tsx';
import { useHistory } from './use-history.ts';
import { WaysIn } from './ways-in.tsx';

export function OverviewTab({ machine }: { readonly machine: Machine }) {
  const [seconds, setSeconds] = useState(OVERVIEW_SECONDS);
  const history = useHistory(machine, seconds);
  return (
    <div class="columns">
      <section aria-labelledby="why">
        <h2 id="why">Why</h2>
        <Why machine={machine} />
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">Facts</h2>
        <Facts machine={machine} />
      </section>
      <section aria-labelledby="picture">
        <h2 id="picture">Screen</h2>
        <ScreenPicture machine={machine} />
      </section>
      <section aria-labelledby="use" class="whole">
        <div class="bar">
          <h2 id="use">Use</h2>
          <select aria-label="Of which time" value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
            {RANGES.map(([each, words]) => (
              <option key={each} value={each}>
                {words}
              </option>
            ))}
          </select>
        </div>
        <UsageCharts machine={machine} history={history} seconds={seconds} />
        <CommandLine command={`virtctl top ${machine.name} --history${where(machine.namespace)}`} />
      </section>
      <section aria-labelledby="ways-in">
        <h2 id="ways-in">How to reach it</h2>
        <WaysIn machine={machine} />
      </section>
      <section aria-labelledby="start">
        <h2 id="start">Start</h2>
        <StartTimeline machine={machine} start={history?.start} />
      </section>
      <section aria-labelledby="guest">
        <h2 id="guest">Guest</h2>
        <GuestInfo machine={machine} />
        <CommandLine command={`virtctl guestosinfo ${machine.name}${where(machine.namespace)}`} />
      </section>
    </div>
  );
}

function Why({ machine }: { readonly machine: Machine }) {
  const why = useWhy(machine);
  if (why === undefined) return <p>Looking…</p>;
  return (
    <>
      <p class={why.isBlocked && machine.tone !== 'off' ? 'trouble' : ''}>{why.what}</p>
      <ul class="faint">
        {why.evidence.map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {why.fix && (
        <p>
          <strong>Fix:</strong> {why.fix}
        </p>
      )}
      <CommandLine command={`virtctl why ${machine.name}${where(machine.namespace)}`} />
    </>
  );
}

function Facts({ machine }: { readonly machine: Machine }) {
  const now = useNow();
  const { vm } = machine;
  const made = vm?.metadata.creationTimestamp;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Image', machine.image],
    ['Processors', machine.cpus === undefined ? undefined : String(machine.cpus)],
    ['Memory', machine.memory],
    ['Address', machine.address],
    ['Node', machine.node],
    ['Run strategy', vm?.spec.runStrategy ?? (vm?.spec.running === undefined ? undefined : String(vm.spec.running))],
    ['Made', made && `${humanDuration(now - Date.parse(made))} ago`],
  ];
  return (
    <dl>
      {facts
        .filter(([, value]) => value !== undefined)
        .map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

/** The whole answer, with Pods, PVCs and events; asked again when the machine has changed. */
function useWhy({ namespace, name, vm, vmi }: Machine): Answer | undefined {
  const { client } = useSession();
  const [answer, setAnswer] = useState<Answer>();
  const version = `${vm?.metadata.resourceVersion}/${vmi?.metadata.resourceVersion}`;
  useEffect(() => {
    let isWanted = true;
    observeWhy({ client, namespace, name, clock: systemClock }).then(
      (observed) => isWanted && setAnswer(decideWhy(observed)),
      (error) => isWanted && setAnswer({ isBlocked: true, what: error.message, evidence: [] }),
    );
    return () => {
      isWanted = false;
    };
  }, [client, namespace, name, version]);
  return answer;
}
