/** What the guest printed on its serial port, as text: followed, or of the run before. */

import { useEffect, useRef, useState } from 'preact/hooks';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { backoffMs } from '../base/backoff.ts';
import { createLineReader } from '../base/clean-lines.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';
import { useSession } from './hooks.ts';

const BACKOFF = { firstMs: 500, capMs: 10_000 };
/** Lines that are kept on the page. */
const MOST_LINES = 5000;

export function LogsPart({ machine }: { readonly machine: Machine }) {
  const { namespace, name, vmi } = machine;
  const refusal = vmi ? vmiRefusalOf('console', vmi)?.message : 'the machine does not run';
  const [isPrevious, setPrevious] = useState(refusal !== undefined);
  const [isFollowed, setFollowed] = useState(true);
  const log = isPrevious ? usePrevious : useFollowedLog;
  return (
    <section class="console" aria-label={`Log of ${name}`}>
      <p class="buttons">
        <label>
          <input type="checkbox" checked={isPrevious} onChange={(event) => setPrevious(event.currentTarget.checked)} />
          The run before
        </label>
        <label>
          <input type="checkbox" checked={isFollowed} onChange={(event) => setFollowed(event.currentTarget.checked)} />
          Show the newest
        </label>
        <code class="faint">
          virtctl logs {name} {isPrevious ? '--previous' : '--follow'}
          {where(namespace)}
        </code>
      </p>
      {!isPrevious && refusal !== undefined ? (
        <p>Nothing is printed: {refusal}.</p>
      ) : (
        <Lines key={String(isPrevious)} use={log} machine={machine} isFollowed={isFollowed} />
      )}
    </section>
  );
}

type Log = { readonly lines: readonly string[]; readonly said: string };
type UseLog = (machine: Machine) => Log;

function Lines({ use, machine, isFollowed }: { readonly use: UseLog; readonly machine: Machine; readonly isFollowed: boolean }) {
  const { lines, said } = use(machine);
  const place = useRef<HTMLPreElement>(null);
  useEffect(() => {
    if (isFollowed) place.current?.scrollTo(0, place.current.scrollHeight);
  }, [lines, isFollowed]);
  return (
    <>
      {said !== '' && <p role="status">{said}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach */}
      <pre class="log" ref={place} tabIndex={0} role="log" aria-live="off" aria-label={`What ${machine.name} printed`}>
        {lines.join('\n')}
      </pre>
    </>
  );
}

/** All that was printed, and what comes; back by itself when the connection broke. */
function useFollowedLog({ namespace, name }: Machine): Log {
  const [log, setLog] = useState<Log>({ lines: [], said: 'Connecting…' });
  useEffect(() => {
    let isOver = false;
    let failures = 0;
    let socket: WebSocket | undefined;
    const connect = () => {
      if (isOver) return;
      const reader = createLineReader();
      const at = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'console', { shared: true, write: false });
      socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${at}`, [STREAM_SUBPROTOCOL]);
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        failures = 0;
        setLog({ lines: [], said: '' }); // what was printed comes again
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === 'string') return;
        const fresh = reader.push(new Uint8Array(data));
        if (fresh.length > 0) setLog(({ lines, said }) => ({ lines: [...lines, ...fresh].slice(-MOST_LINES), said }));
      };
      socket.onclose = () => {
        if (isOver) return;
        setLog(({ lines }) => ({ lines, said: 'Connecting again…' }));
        failures += 1;
        setTimeout(connect, backoffMs(BACKOFF, failures));
      };
    };
    connect();
    return () => {
      isOver = true;
      socket?.close();
    };
  }, [namespace, name]);
  return log;
}

/** The run before; of a machine that does not run, its last one. */
function usePrevious({ namespace, name }: Machine): Log {
  const { client } = useSession();
  const [log, setLog] = useState<Log>({ lines: [], said: 'Looking…' });
  useEffect(() => {
    const left = new AbortController();
    const ask = async () => {
      const path = subresourcePath({ resource: 'virtualmachines', namespace, name }, 'logs', { previous: true });
      const response = await client.request(path, { signal: left.signal });
      const reader = createLineReader();
      const lines = [...reader.push(new Uint8Array(await response.arrayBuffer())), ...reader.rest()];
      setLog({ lines: lines.slice(-MOST_LINES), said: lines.length === 0 ? 'It printed nothing.' : '' });
    };
    ask().catch((error) => !left.signal.aborted && setLog({ lines: [], said: error.message }));
    return () => left.abort();
  }, [client, namespace, name]);
  return log;
}
