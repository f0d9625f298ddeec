/** What can be done to all machines that are selected, with their names before it is done. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { actInBulk } from './act.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import type { BulkAction } from './derive-actions.ts';
import { BULK_ACTIONS, BULK_WORDS, type Bulk, deriveBulk } from './derive-bulk.ts';
import type { Machine } from './derive-machines.ts';
import { useForbiddenOf, useSession } from './hooks.ts';
import { LostDisks } from './lost-disks.tsx';

/** At once: a cluster has other things to do. */
const AT_ONCE = 5;

export function BulkBar({ machines, clear }: { readonly machines: readonly Machine[]; clear(): void }) {
  const [asked, setAsked] = useState<Asked>();
  const forbidden = useForbiddenOf(machines.map(({ namespace }) => namespace));
  const ask = (action: BulkAction) => {
    const nowMs = Date.now();
    setAsked({ nowMs, bulk: deriveBulk(action, machines, { forbidden, nowMs }) });
  };
  return (
    <p class="bulk buttons" role="toolbar" aria-label="Selected machines">
      <strong>{machines.length} selected</strong>
      {BULK_ACTIONS.map((action) => (
        <button
          key={action}
          type="button"
          class={action === 'delete' ? 'danger' : ''}
          aria-label={`${BULK_WORDS[action]} the selected machines`}
          onClick={() => ask(action)}
        >
          {BULK_WORDS[action]}
        </button>
      ))}
      <button type="button" onClick={clear}>
        Clear
      </button>
      {asked && <BulkDialog {...asked} close={() => setAsked(undefined)} />}
    </p>
  );
}

type Asked = { readonly bulk: Bulk; readonly nowMs: number };

function BulkDialog({ bulk: { action, able, unable, commands }, nowMs, close }: Asked & { close(): void }) {
  const { client } = useSession();
  const dialog = useRef<HTMLDialogElement>(null);
  const [done, setDone] = useState<number>();
  const [failures, setFailures] = useState<readonly string[]>([]);
  useEffect(() => dialog.current?.showModal(), []);

  const confirm = async () => {
    setDone(0);
    const failed: string[] = [];
    const left = [...able];
    const work = async () => {
      for (let machine = left.shift(); machine; machine = left.shift()) {
        await actInBulk(client, action, machine, nowMs).catch((error) => failed.push(`${machine?.name}: ${error.message}`));
        setDone((count = 0) => count + 1);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    if (failed.length === 0) dialog.current?.close();
    else setFailures(failed);
  };
  const word = BULK_WORDS[action];
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="bulk-question">
      <h2 id="bulk-question">
        {word} {able.length === 1 ? able[0]?.name : `${able.length} machines`}?
      </h2>
      <p class="names">{able.map(({ name }) => name).join(', ') || 'None of them can be.'}</p>
      {action === 'delete' && <LostDisks machines={able} />}
      {unable.length > 0 && (
        <ul class="faint">
          {unable.map(({ machine, why }) => (
            <li key={machine.key}>
              not {machine.name}: {why}
            </li>
          ))}
        </ul>
      )}
      {failures.map((failure) => (
        <p class="trouble" role="alert" key={failure}>
          {failure}
        </p>
      ))}
      <ConfirmFoot
        {...{ commands, confirm, isDanger: action === 'delete', isReady: able.length > 0, work: { isBusy: done !== undefined } }}
        word={done === undefined ? word : `${done} of ${able.length}`}
        leave={failures.length > 0 ? 'Close' : 'Cancel'}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
