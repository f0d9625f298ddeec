/** The ways into a guest beside each other: serial console, screen, commands through its agent, and what it printed. */
import { lazy } from 'preact/compat';
import { VMIS } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import type { Right } from './act.ts';
import type { Machine } from './derive-machines.ts';
import { CONSOLE_PARTS, type ConsolePart } from './derive-place.ts';
import { PlaceLink } from './place-link.tsx';
import { useMay } from './use-may.ts';

const ConsoleTab = lazy(() => import('./console-tab.tsx').then(({ ConsoleTab }) => ({ default: ConsoleTab })));
const ScreenTab = lazy(() => import('./screen-tab.tsx').then(({ ScreenTab }) => ({ default: ScreenTab })));
const ShellPart = lazy(() => import('./shell-part.tsx').then(({ ShellPart }) => ({ default: ShellPart })));
const LogsPart = lazy(() => import('./logs-part.tsx').then(({ LogsPart }) => ({ default: LogsPart })));

const WORDS: Readonly<Record<ConsolePart, string>> = { console: 'Serial', screen: 'Screen', shell: 'Shell', logs: 'Logs' };

export function ConsoleParts({ machine, part }: { readonly machine: Machine; readonly part: ConsolePart }) {
  const { namespace, name } = machine;
  return (
    <>
      <nav class="segments" aria-label={`Ways into ${name}`}>
        {CONSOLE_PARTS.map((each) => (
          <PlaceLink key={each} to={{ page: 'machine', namespace, name, tab: each }} isHere={each === part} class="segment">
            {WORDS[each]}
          </PlaceLink>
        ))}
      </nav>
      <Part key={machine.vmi?.metadata.uid ?? ''} machine={machine} part={part} />
    </>
  );
}

/** What each of them is to the API server; the log is what the serial console has printed. */
const RIGHTS: Readonly<Record<ConsolePart, Right>> = {
  console: rightTo('get', 'console'),
  screen: rightTo('get', 'vnc'),
  shell: rightTo('update', 'exec'),
  logs: rightTo('get', 'console'),
};

function rightTo(verb: 'get' | 'update', subresource: string): Right {
  return { verb, group: SUBRESOURCES_GROUP, resource: VMIS.plural, subresource };
}

const REFUSED: Readonly<Record<ConsolePart, string>> = {
  console: 'open consoles',
  screen: 'see screens',
  shell: 'run commands in guests',
  logs: 'read logs',
};

function Part({ machine, part }: { readonly machine: Machine; readonly part: ConsolePart }) {
  // a browser is not told why a connection was refused
  const isAllowed = useMay(machine.namespace, RIGHTS[part]);
  if (!isAllowed)
    return (
      <p class="trouble" role="alert">
        You may not {REFUSED[part]} of machines in {machine.namespace}.
      </p>
    );
  switch (part) {
    case 'console':
      return <ConsoleTab machine={machine} />;
    case 'screen':
      return <ScreenTab machine={machine} />;
    case 'shell':
      return <ShellPart machine={machine} />;
    case 'logs':
      return <LogsPart machine={machine} />;
  }
}
