/** One machine: what can be done to it, and its parts, each of them loaded when somebody opens it. */
import { lazy, Suspense } from 'preact/compat';
import { useState } from 'preact/hooks';
import { ActionButtons, type Confirmation, ConfirmDialog } from './action-buttons.tsx';
import { deriveMachines, type Machine } from './derive-machines.ts';
import { MACHINE_TABS, type MachineTab, type Place, tabOf } from './derive-place.ts';
import { useForbidden, useSession } from './hooks.ts';
import { MoveBar } from './move-bar.tsx';
import { OverviewTab } from './overview-tab.tsx';
import { PlaceLink } from './place-link.tsx';
import { StatusWord } from './status-word.tsx';

const ConsoleParts = lazy(() => import('./console-parts.tsx').then(({ ConsoleParts }) => ({ default: ConsoleParts })));
const ConfigurationTab = lazy(() => import('./configuration-tab.tsx').then(({ ConfigurationTab }) => ({ default: ConfigurationTab })));
const DisksTab = lazy(() => import('./disks-tab.tsx').then(({ DisksTab }) => ({ default: DisksTab })));
const NetworkTab = lazy(() => import('./network-tab.tsx').then(({ NetworkTab }) => ({ default: NetworkTab })));
const ActivityTab = lazy(() => import('./activity-tab.tsx').then(({ ActivityTab }) => ({ default: ActivityTab })));
const YamlTab = lazy(() => import('./yaml-tab.tsx').then(({ YamlTab }) => ({ default: YamlTab })));

const TAB_WORDS: Readonly<Record<(typeof MACHINE_TABS)[number], string>> = {
  overview: 'Overview',
  console: 'Console',
  configuration: 'Configuration',
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
      <MoveBar machine={machine} />
      <nav class="tabs" aria-label={`Parts of ${name}`}>
        {MACHINE_TABS.map((each) => (
          <PlaceLink key={each} to={{ ...place, tab: each }} isHere={each === tabOf(tab)}>
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

function Tab({ tab, machine }: { readonly tab: MachineTab; readonly machine: Machine }) {
  switch (tab) {
    case 'overview':
      return <OverviewTab machine={machine} />;
    case 'console':
    case 'screen':
    case 'shell':
    case 'logs':
      return <ConsoleParts machine={machine} part={tab} />;
    case 'configuration':
      return <ConfigurationTab key={machine.key} machine={machine} />;
    case 'disks':
      return <DisksTab key={machine.key} machine={machine} />;
    case 'network':
      return <NetworkTab key={machine.key} machine={machine} />;
    case 'activity':
      return <ActivityTab key={machine.key} machine={machine} />;
    case 'yaml':
      return <YamlTab key={machine.key} machine={machine} />;
  }
}
