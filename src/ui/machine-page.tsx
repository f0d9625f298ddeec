/** One machine: what it does and why, its console and screen, what happened to it, and its YAML. */
import { lazy, Suspense } from 'preact/compat';
import { useEffect, useState } from 'preact/hooks';
import { systemClock } from '../base/clock.ts';
import { humanDuration } from '../base/duration.ts';
import { decideWhy } from '../sdk/why/decide.ts';
import { observeWhy } from '../sdk/why/observe.ts';
import type { Answer } from '../sdk/why/observed.ts';
import { ActionButtons, type Confirmation, ConfirmDialog } from './action-buttons.tsx';
import { deriveMachines, deriveMove, type Machine } from './derive-machines.ts';
import { MACHINE_TABS, type MachineTab, type Place } from './derive-place.ts';
import { EventList } from './event-list.tsx';
import { GuestInfo } from './guest-info.tsx';
import { useForbidden, useNow, useSession } from './hooks.ts';
import { PlaceLink } from './place-link.tsx';
import { StatusWord } from './status-word.tsx';
import { UsageCharts } from './usage-charts.tsx';

const ConsoleTab = lazy(() => import('./console-tab.tsx').then(({ ConsoleTab }) => ({ default: ConsoleTab })));
const ScreenTab = lazy(() => import('./screen-tab.tsx').then(({ ScreenTab }) => ({ default: ScreenTab })));
const DisksTab = lazy(() => import('./disks-tab.tsx').then(({ DisksTab }) => ({ default: DisksTab })));
const NetworkTab = lazy(() => import('./network-tab.tsx').then(({ NetworkTab }) => ({ default: NetworkTab })));
const YamlTab = lazy(() => import('./yaml-tab.tsx').then(({ YamlTab }) => ({ default: YamlTab })));

const TAB_WORDS: Readonly<Record<MachineTab, string>> = {
  overview: 'Overview',
  console: 'Console',
  screen: 'Screen',
  disks: 'Disks & snapshots',
  network: 'Network',
  activity: 'Activity',
  yaml: 'YAML',
};

type MachinePlace = Extract<Place, { page: 'machine' }>;

export function MachinePage({ place }: { readonly place: MachinePlace }) {
  const { namespace, name, tab } = place;
  const session = useSession();
  const forbidden = useForbidden(namespace);
  const [asked, setAsked] = useState<Confirmation>();
  const key = `${namespace}/${name}`;
  const [vm, vmi] = [session.vms.get(key), session.vmis.get(key)];
  const [machine] = deriveMachines(vm ? [vm] : [], vmi ? [vmi] : []);
  if (!machine) {
    return (
      <main>
        <h1>There is no machine {name}</h1>
        <p>In namespace {namespace} it is not there, or not any more.</p>
        <PlaceLink to={{ page: 'machines', text: '', status: '' }}>To the machines</PlaceLink>
      </main>
    );
  }
  return (
    <main>
      <header class="bar">
        <h1>{name}</h1>
        <StatusWord status={machine.status} tone={machine.tone} />
        <span class="faint">{namespace}</span>
        <ActionButtons machine={machine} forbidden={forbidden} ask={setAsked} />
      </header>
      <Move machine={machine} />
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {MACHINE_TABS.map((each) => (
          <PlaceLink key={each} to={{ ...place, tab: each }} isHere={each === tab}>
            {TAB_WORDS[each]}
          </PlaceLink>
        ))}
      </nav>
      <Suspense fallback={<p role="status">Loading…</p>}>
        <Tab tab={tab} machine={machine} />
      </Suspense>
      {asked && <ConfirmDialog {...asked} close={() => setAsked(undefined)} />}
    </main>
  );
}

function Move({ machine }: { readonly machine: Machine }) {
  const move = deriveMove(machine);
  if (!move) return null;
  return (
    <p role="status" class={move.isFailed ? 'trouble' : 'moving'}>
      {move.text}.{' '}
      {!move.isFailed && (
        <span class="faint">
          To cancel it: <code>virtctl migrate-cancel {machine.name}</code>
        </span>
      )}
    </p>
  );
}

function Tab({ tab, machine }: { readonly tab: MachinePlace['tab']; readonly machine: Machine }) {
  const session = useSession();
  switch (tab) {
    case 'overview':
      return <Overview machine={machine} />;
    case 'console':
      return <ConsoleTab key={machine.vmi?.metadata.uid ?? ''} machine={machine} />;
    case 'screen':
      return <ScreenTab key={machine.vmi?.metadata.uid ?? ''} machine={machine} />;
    case 'disks':
      return <DisksTab key={machine.key} machine={machine} />;
    case 'network':
      return <NetworkTab key={machine.key} machine={machine} />;
    case 'activity':
      return <EventList events={eventsOf(machine, session.events?.list() ?? [])} />;
    case 'yaml':
      return <YamlTab key={machine.key} machine={machine} />;
  }
}

function eventsOf<E extends { readonly involvedObject: { readonly name?: string; readonly namespace?: string; readonly kind?: string } }>(
  { namespace, name }: Machine,
  events: readonly E[],
): readonly E[] {
  return events.filter(
    ({ involvedObject: about }) =>
      about.namespace === namespace && (about.name === name || (about.kind === 'Pod' && about.name?.startsWith(`virt-launcher-${name}-`))),
  );
}

function Overview({ machine }: { readonly machine: Machine }) {
  const now = useNow();
  const why = useWhy(machine);
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Image', machine.image],
    ['Processors', machine.cpus === undefined ? undefined : String(machine.cpus)],
    ['Memory', machine.memory],
    ['Address', machine.address],
    ['Node', machine.node],
    [
      'Run strategy',
      machine.vm?.spec.runStrategy ?? (machine.vm?.spec.running === undefined ? undefined : String(machine.vm.spec.running)),
    ],
    ['Made', machine.vm?.metadata.creationTimestamp && `${humanDuration(now - Date.parse(machine.vm.metadata.creationTimestamp))} ago`],
  ];
  return (
    <div class="columns">
      <section aria-labelledby="why">
        <h2 id="why">Why</h2>
        {why === undefined ? (
          <p>Looking…</p>
        ) : (
          <>
            <p class={why.isBlocked ? 'trouble' : ''}>{why.what}</p>
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
          </>
        )}
        <p class="faint">
          The same in a terminal: <code>virtctl why {machine.name}</code>
        </p>
      </section>
      <section aria-labelledby="facts">
        <h2 id="facts">Facts</h2>
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
      </section>
      <section aria-labelledby="start">
        <h2 id="start">Start</h2>
        <StartTimeline machine={machine} />
      </section>
      <section aria-labelledby="guest">
        <h2 id="guest">Guest</h2>
        <GuestInfo machine={machine} />
        <p class="faint">
          The same in a terminal: <code>virtctl guestosinfo {machine.name}</code>
        </p>
      </section>
      <section aria-labelledby="use" class="whole">
        <h2 id="use">The last hour</h2>
        <UsageCharts machine={machine} />
        <p class="faint">
          The same in a terminal: <code>virtctl top {machine.name} --history</code>
        </p>
      </section>
    </div>
  );
}

/** How long each phase of the last start took. */
function StartTimeline({ machine }: { readonly machine: Machine }) {
  const { vmi } = machine;
  const made = vmi?.metadata.creationTimestamp;
  if (!vmi || !made) return <p>It does not run.</p>;
  const steps = vmi.status?.phaseTransitionTimestamps ?? [];
  return (
    <ol class="timeline">
      {steps.map(({ phase, phaseTransitionTimestamp: at }) => (
        <li key={`${phase}${at}`}>
          <span>{phase}</span>
          <span class="faint">{((Date.parse(at) - Date.parse(made)) / 1000).toFixed(0)} s</span>
        </li>
      ))}
    </ol>
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
