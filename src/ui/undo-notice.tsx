/** What was stopped here a moment ago can be started again with one click, as soon as it has stopped. */
import { useEffect, useState } from 'preact/hooks';
import { act } from './act.ts';
import { deriveMachines, type Machine } from './derive-machines.ts';
import { deriveUndo } from './derive-undo.ts';
import { useForbiddenOf, useSession } from './hooks.ts';
import { useWork } from './use-work.ts';

/** How long it is offered. */
const OFFERED_MS = 60_000;
const stops = new EventTarget();

export function offerUndo(machines: readonly Machine[]): void {
  stops.dispatchEvent(new CustomEvent('stopped', { detail: machines.map(({ key }) => key) }));
}

export function UndoNotice() {
  const session = useSession();
  const [keys, setKeys] = useState<readonly string[]>([]);
  const work = useWork();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopped = (event: Event) => {
      setKeys((event as CustomEvent<readonly string[]>).detail);
      clearTimeout(timer);
      timer = setTimeout(() => setKeys([]), OFFERED_MS);
    };
    stops.addEventListener('stopped', stopped);
    return () => {
      stops.removeEventListener('stopped', stopped);
      clearTimeout(timer);
    };
  }, []);
  const found = <T,>(cache: { get(key: string): T | undefined }) => keys.flatMap((key) => cache.get(key) ?? []);
  const stopped = deriveMachines(found(session.vms), found(session.vmis));
  const forbidden = useForbiddenOf(stopped.map(({ namespace }) => namespace));
  const undo = deriveUndo(stopped, forbidden);
  if (!undo) return null;
  const { text, able, refusal } = undo;
  const start = () =>
    work.run(async () => {
      await Promise.all(able.map((machine) => act(session.client, 'start', machine)));
      setKeys([]);
    });
  return (
    <p class="notice" role="status">
      {text}{' '}
      <button
        type="button"
        aria-disabled={refusal !== undefined || work.isBusy}
        title={refusal ?? ''}
        aria-label={`Start again${refusal ? `: ${refusal}` : ''}`}
        onClick={() => refusal === undefined && !work.isBusy && void start()}
      >
        Start again
      </button>{' '}
      <button type="button" onClick={() => setKeys([])}>
        Close
      </button>
      {work.error && <span class="trouble">{work.error}</span>}
    </p>
  );
}
