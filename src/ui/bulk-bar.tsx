/** What can be done to all machines that are selected, with their names before it is done. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { actInBulk } from './act.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import type { BulkAction } from './derive-actions.ts';
import { BULK_ACTIONS, BULK_WORDS, type Bulk, deriveBulk } from './derive-bulk.ts';
import type { Machine } from './derive-machines.ts';
import { useForbiddenOf, useSession } from './hooks.ts';
import { LostDisks } from './lost-disks.tsx';
import { type BulkResult, runBulk } from './run-bulk.ts';
import { offerUndo } from './undo-notice.tsx';

/** At once: a cluster has other things to do. */
const AT_ONCE = 5;

/** `select` says which stay selected. */
export function BulkBar({ machines, select }: { readonly machines: readonly Machine[]; select(machines: readonly Machine[]): void }) {
  const [asked, setAsked] = useState<Asked>();
  const forbidden = useForbiddenOf(machines.map(({ namespace }) => namespace));
  const ask = (action: BulkAction) => {
    const nowMs = Date.now();
    setAsked({ nowMs, bulk: deriveBulk(action, machines, { forbidden, nowMs }) });
  };
  // the dialog stays while machines that are done leave the list
  if (machines.length === 0 && !asked) return null;
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
      <button type="button" onClick={() => select([])}>
        Clear
      </button>
      {asked && <BulkDialog {...asked} select={select} close={() => setAsked(undefined)} />}
    </p>
  );
}

type Asked = { readonly bulk: Bulk; readonly nowMs: number };
type DialogProps = Asked & { select(machines: readonly Machine[]): void; close(): void };

function BulkDialog({ bulk, nowMs, select, close }: DialogProps) {
  const { action, able, unable, commands } = bulk;
  const dialog = useRef<HTMLDialogElement>(null);
  const { state, result, confirm, stop } = useBulk(bulk, nowMs);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (state !== 'over' || !result) return;
    const undone = new Set([...result.failures.map(({ item }) => item), ...result.left]);
    select([...undone]); // what is to be looked at yet
    if (action === 'stop') offerUndo(able.filter((machine) => !undone.has(machine)));
    if (undone.size === 0) dialog.current?.close();
  }, [state]);
  const word = BULK_WORDS[action];
  const isWorking = state === 'working';
  const leave = () => (isWorking ? stop() : dialog.current?.close());
  return (
    <dialog
      ref={dialog}
      onClose={close}
      onCancel={(event) => {
        if (!isWorking) return;
        event.preventDefault(); // how it ended is to be read
        stop();
      }}
      aria-labelledby="bulk-question"
    >
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
      {result?.failures.map(({ item, message }) => (
        <p class="trouble" role="alert" key={item.key}>
          {item.name}: {message}
        </p>
      ))}
      <p role="status">{saidOf(state, result, able.length)}</p>
      <ConfirmFoot
        {...{ commands, confirm, isDanger: action === 'delete', isReady: able.length > 0, work: { isBusy: state !== 'asked' } }}
        word={result ? `${result.tried} of ${able.length}` : word}
        leave={isWorking || state === 'asked' ? 'Cancel' : 'Close'}
        cancel={leave}
      />
    </dialog>
  );
}

/** `stopping`: nothing more is begun, and what was begun has not ended yet. */
type BulkState = 'asked' | 'working' | 'stopping' | 'over';

function saidOf(state: BulkState, result: BulkResult<Machine> | undefined, count: number): string {
  if (state === 'stopping') return 'Stopping: what was begun is waited for.';
  return state === 'over' && result && result.left.length > 0 ? `Stopped after ${result.tried} of ${count}.` : '';
}

/** Nothing more is begun when somebody says stop, or leaves. */
function useBulk({ action, able }: Bulk, nowMs: number) {
  const { client } = useSession();
  const [state, setState] = useState<BulkState>('asked');
  const [result, setResult] = useState<BulkResult<Machine>>();
  const stopped = useRef<AbortController>(undefined);
  useEffect(() => () => stopped.current?.abort(), []);
  const confirm = async () => {
    const controller = new AbortController();
    stopped.current = controller;
    setState('working');
    const does = (machine: Machine) => actInBulk(client, action, machine, nowMs);
    setResult({ tried: 0, failures: [], left: able });
    setResult(await runBulk({ items: able, atOnce: AT_ONCE, signal: controller.signal, does, onProgress: setResult }));
    setState('over');
  };
  const stop = () => {
    stopped.current?.abort();
    setState('stopping');
  };
  return { state, result, confirm, stop };
}
