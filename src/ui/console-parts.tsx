/** The ways into a guest beside each other: serial console, screen, commands through its agent, and what it printed. */
import { lazy } from 'preact/compat';
import type { Machine } from './derive-machines.ts';
import { CONSOLE_PARTS, type ConsolePart } from './derive-place.ts';
import { PlaceLink } from './place-link.tsx';

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

function Part({ machine, part }: { readonly machine: Machine; readonly part: ConsolePart }) {
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
