/** Ctrl+K: every page, every machine and everything that can be done, by typing. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { act } from './act.ts';
import { ASKED_BACK, type Confirmation, ConfirmDialog } from './action-buttons.tsx';
import { deriveMachines } from './derive-machines.ts';
import { derivePalette, type PaletteEntry } from './derive-palette.ts';
import { go, useForbiddenOf, useSession } from './hooks.ts';
import { chooseTheme } from './theme.ts';
import { useWork } from './use-work.ts';

export function Palette() {
  const [isOpen, setOpen] = useState(false);
  const [asked, setAsked] = useState<Confirmation>();
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.key !== 'k' || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
      // in a terminal it is the guest's
      if (event.target instanceof Element && event.target.closest('.terminal, canvas')) return;
      event.preventDefault();
      setOpen(true);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return (
    <>
      {isOpen && <PaletteDialog close={() => setOpen(false)} ask={setAsked} />}
      {asked && <ConfirmDialog {...asked} close={() => setAsked(undefined)} />}
    </>
  );
}

function PaletteDialog({ close, ask }: { close(): void; ask(confirmation: Confirmation): void }) {
  const session = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  const machines = deriveMachines(session.vms.list(), session.vmis.list());
  const possible = derivePalette(machines, text).flatMap(({ does }) => ('machine' in does ? [does.machine.namespace] : []));
  const entries = derivePalette(machines, text, useForbiddenOf(possible));
  const at = Math.min(chosen, entries.length - 1);

  const does = ({ does }: PaletteEntry) => {
    if ('go' in does) go(does.go);
    else if ('theme' in does) chooseTheme(does.theme);
    else if (ASKED_BACK.has(does.action)) ask(does);
    else
      return void work.run(async () => {
        await act(session.client, does.action, does.machine);
        close();
      });
    close();
  };
  const pressed = (event: KeyboardEvent) => {
    const entry = entries[at];
    if (event.key === 'ArrowDown') setChosen(Math.min(at + 1, entries.length - 1));
    else if (event.key === 'ArrowUp') setChosen(Math.max(at - 1, 0));
    else if (event.key === 'Enter' && entry) does(entry);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Commands" onClose={close}>
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-entries"
        aria-activedescendant={entries.length > 0 ? `palette-${at}` : undefined}
        aria-label="A page, a machine or an action"
        placeholder="A page, a machine or an action"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={pressed}
      />
      <div id="palette-entries" role="listbox" aria-label="Commands">
        {entries.map((entry, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the input has the focus and the keys, as a combobox has
          <div key={entry.label} id={`palette-${index}`} role="option" aria-selected={index === at} onClick={() => does(entry)}>
            {entry.label} <span class="faint">{entry.hint}</span>
          </div>
        ))}
      </div>
      {entries.length === 0 && <p>Nothing has these words.</p>}
      {work.error && (
        <p class="trouble" role="alert">
          {work.error}
        </p>
      )}
    </dialog>
  );
}
