/** Buttons for what can be done to a machine; what cannot be done says why. */
import { useEffect, useRef } from 'preact/hooks';
import { act } from './act.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { ACTION_WORDS, type Action, commandOf, deriveActions, type Forbidden } from './derive-actions.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { LostDisks } from './lost-disks.tsx';
import { offerUndo } from './undo-notice.tsx';
import { useWork } from './use-work.ts';

/** What is asked back, because it cannot be taken back. */
export type Confirmation = { readonly action: Action; readonly machine: Machine };

/** They cannot be taken back, or take a while. */
export const ASKED_BACK: ReadonlySet<Action> = new Set(['stop', 'restart', 'migrate', 'delete']);

type Props = {
  readonly machine: Machine;
  readonly forbidden: Forbidden;
  readonly only?: readonly Action[];
  ask(confirmation: Confirmation): void;
};

export function ActionButtons({ machine, forbidden, only, ask }: Props) {
  const { client } = useSession();
  const work = useWork();
  const states = deriveActions(machine, forbidden).filter(({ action }) => !only || only.includes(action));
  // in a list, of start and stop only that which makes sense
  const shown = only ? [states.find(({ refusal }) => !refusal) ?? states[0]].flatMap((state) => state ?? []) : states;
  return (
    <span class="buttons">
      {shown.map(({ action, refusal, command }) => (
        <button
          key={action}
          type="button"
          class={action === 'delete' ? 'danger' : ''}
          aria-disabled={refusal !== undefined || work.isBusy}
          title={refusal ?? command}
          aria-label={`${ACTION_WORDS[action]} ${machine.name}${refusal ? `: ${refusal}` : ''}`}
          onClick={() => {
            if (refusal !== undefined || work.isBusy) return;
            if (ASKED_BACK.has(action)) ask({ action, machine });
            else void work.run(() => act(client, action, machine));
          }}
        >
          {ACTION_WORDS[action]}
        </button>
      ))}
      {work.error && (
        <span class="trouble" role="alert">
          {work.error}
        </span>
      )}
    </span>
  );
}

const EFFECTS: Partial<Record<Action, string>> = {
  stop: 'The guest is asked to power off; after its grace period it is ended by force.',
  restart: 'The guest is powered off and started again.',
  migrate: 'The guest goes to another node while it runs, and stops for a moment at the end; its address in the cluster changes.',
  delete: 'The machine and what was written to its ephemeral disks are gone.',
};

export function ConfirmDialog({ action, machine, close }: Confirmation & { close(): void }) {
  const { client } = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = () =>
    work.run(async () => {
      await act(client, action, machine);
      if (action === 'stop') offerUndo([machine]);
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="question">
      <h2 id="question">
        {ACTION_WORDS[action]} {machine.name}?
      </h2>
      <p>{EFFECTS[action]}</p>
      {action === 'delete' && <LostDisks machines={[machine]} />}
      <ConfirmFoot
        {...{ commands: [commandOf(action, machine)], work, word: ACTION_WORDS[action], confirm, isDanger: action === 'delete' }}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
