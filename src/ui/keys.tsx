/** Keys for whoever wants them: never while somebody types or holds a modifier, and they can be switched off. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { act } from './act.ts';
import { ASKED_BACK, type Confirmation, ConfirmDialog } from './action-buttons.tsx';
import { deriveActions } from './derive-actions.ts';
import { deriveKey, KEYS, type KeyEffect } from './derive-keys.ts';
import { deriveMachines, type Machine } from './derive-machines.ts';
import type { Place } from './derive-place.ts';
import { askForbidden, go, useSession } from './hooks.ts';
import { chooseTheme, keptTheme, THEME_WORDS, THEMES } from './theme.ts';
import { useWork } from './use-work.ts';

/** How long the second key of two is waited for. */
const SECOND_KEY_MS = 1500;
const OFF = 'keys-off';

export function Keys({ place }: { readonly place: Place }) {
  const session = useSession();
  const [isHelpShown, setHelpShown] = useState(false);
  const [asked, setAsked] = useState<Confirmation>();
  const work = useWork();
  const before = useRef<{ readonly key: string; readonly atMs: number }>(undefined);
  // Not a moment after the page is seen: a key that is pressed then would be lost.
  useLayoutEffect(() => {
    const does = (effect: KeyEffect) => {
      if ('go' in effect) return go(effect.go);
      if ('focus' in effect) return document.querySelector<HTMLInputElement>('#filter')?.focus();
      if ('help' in effect) return setHelpShown(true);
      if ('await' in effect) return;
      if ('move' in effect) return moveInList(effect.move);
      if ('select' in effect) return rowInFocus()?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
      const machine = machineAt(place, session.vms, session.vmis);
      if (!machine) return;
      const { namespace, name } = machine;
      if ('open' in effect) return go({ page: 'machine', namespace, name, tab: effect.open });
      const { action } = effect;
      void work.run(async () => {
        const states = deriveActions(machine, await askForbidden(session.client, namespace));
        const { refusal } = states.find((each) => each.action === action) ?? { refusal: 'it has no VirtualMachine' };
        if (refusal !== undefined) throw new Error(`Cannot ${action} ${name}: ${refusal}`);
        if (ASKED_BACK.has(action)) setAsked({ action, machine });
        else await act(session.client, action, machine);
      });
    };
    const pressed = (event: KeyboardEvent) => {
      const isTaken =
        event.target instanceof Element &&
        event.target.closest('input, textarea, select, [contenteditable], .terminal, canvas, dialog') !== null;
      const isCheckbox = event.target instanceof HTMLInputElement && event.target.type === 'checkbox';
      if ((isTaken && !isCheckbox) || event.ctrlKey || event.metaKey || event.altKey || localStorage.getItem(OFF) !== null) return;
      const { key: first, atMs = 0 } = before.current ?? {};
      before.current = undefined;
      const effect = deriveKey(event.key, { page: place.page, before: Date.now() - atMs < SECOND_KEY_MS ? first : undefined });
      if (!effect) return;
      if ('await' in effect) before.current = { key: effect.await, atMs: Date.now() };
      event.preventDefault();
      does(effect);
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [place, session]);
  return (
    <>
      {work.error && (
        <p class="notice trouble" role="alert">
          {work.error}{' '}
          <button type="button" onClick={() => void work.run(async () => {})}>
            Close
          </button>
        </p>
      )}
      {isHelpShown && <KeyHelp close={() => setHelpShown(false)} />}
      {asked && <ConfirmDialog {...asked} close={() => setAsked(undefined)} />}
    </>
  );
}

function KeyHelp({ close }: { close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl>
        {KEYS.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label>
          <input
            type="checkbox"
            checked={localStorage.getItem(OFF) === null}
            onChange={(event) => (event.currentTarget.checked ? localStorage.removeItem(OFF) : localStorage.setItem(OFF, ''))}
          />
          Single letters do something, in this browser
        </label>
      </p>
      <p>
        <label>
          Theme, in this browser{' '}
          <select
            value={keptTheme()}
            onChange={(event) => chooseTheme(THEMES.find((theme) => theme === event.currentTarget.value) ?? 'system')}
          >
            {THEMES.map((theme) => (
              <option key={theme} value={theme}>
                {THEME_WORDS[theme]}
              </option>
            ))}
          </select>
        </label>
      </p>
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  );
}

/** The machine of this page; in the list, that of the row with the focus. */
function machineAt(
  place: Place,
  vms: ReturnType<typeof useSession>['vms'],
  vmis: ReturnType<typeof useSession>['vmis'],
): Machine | undefined {
  const key = place.page === 'machine' ? `${place.namespace}/${place.name}` : rowInFocus()?.dataset['machine'];
  if (key === undefined) return undefined;
  const [vm, vmi] = [vms.get(key), vmis.get(key)];
  return deriveMachines(vm ? [vm] : [], vmi ? [vmi] : [])[0];
}

function rowInFocus(): HTMLTableRowElement | undefined {
  return document.activeElement?.closest<HTMLTableRowElement>('tr[data-machine]') ?? undefined;
}

function moveInList(step: 1 | -1): void {
  const rows = [...document.querySelectorAll<HTMLTableRowElement>('tr[data-machine]')];
  const here = rowInFocus();
  const at = here ? rows.indexOf(here) : -1;
  const next = rows[at < 0 ? 0 : at + step];
  next?.querySelector<HTMLElement>('td.name a')?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}
