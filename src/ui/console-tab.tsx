/** The serial console in a terminal: with what was printed before, shared with other viewers, and back by itself when the connection broke or the guest has moved. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import { readMoved } from '../api/handler/moved.ts';
import { TAKE_OVER, TURNS } from '../api/handler/turns.ts';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { backoffMs } from '../base/backoff.ts';
import { TypedBytes } from '../sdk/typed-bytes.ts';
import type { Machine } from './derive-machines.ts';

const BACKOFF = { firstMs: 500, capMs: 10_000 };
type State = 'connecting' | 'open' | 'watching';

export function ConsoleTab({ machine }: { readonly machine: Machine }) {
  const { namespace, name, vmi } = machine;
  const refusal = vmi ? vmiRefusalOf('console', vmi)?.message : 'the machine does not run';
  const place = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<State>('connecting');
  const connection = useRef<WebSocket>(undefined);

  useEffect(() => {
    const element = place.current;
    if (!element || refusal !== undefined) return;
    const terminal = new Terminal({ convertEol: false, scrollback: 10_000, screenReaderMode: true, fontSize: 14 });
    const fit = new FitAddon();
    terminal.loadAddon(fit);
    terminal.open(element);
    fit.fit();
    const observer = new ResizeObserver(() => fit.fit());
    observer.observe(element);
    let isOver = false;
    let failures = 0;
    /** The guest goes on at another node, which knows so much of what is on this terminal. */
    let from: number | undefined;
    let typedBytes = new TypedBytes();
    const connect = () => {
      if (isOver) return;
      const wish = { shared: true, ...(from !== undefined && { from }) };
      const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'console', wish);
      const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}`, [STREAM_SUBPROTOCOL]);
      connection.current = socket;
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        failures = 0;
        if (from === undefined) {
          terminal.reset(); // what was printed comes again
          typedBytes = new TypedBytes();
        } else for (const bytes of typedBytes.again()) socket.send(new Uint8Array(bytes));
        from = undefined;
        setState('open');
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === 'string') setState(data === TURNS.mine ? 'open' : 'watching');
        else terminal.write(new Uint8Array(data));
      };
      socket.onclose = ({ code, reason }) => {
        setState('connecting');
        const moved = readMoved(code, reason);
        if (moved) {
          typedBytes.isTaken(moved.taken);
          from = moved.printed;
          return connect();
        }
        failures += 1;
        setTimeout(connect, backoffMs(BACKOFF, failures));
      };
    };
    // every other key is the guest's, Tab among them: whoever has no mouse needs a way out
    terminal.attachCustomKeyEventHandler((event) => {
      if (event.key !== 'Escape' || !event.shiftKey) return true;
      if (event.type === 'keydown') document.querySelector<HTMLElement>('.tabs a[aria-current]')?.focus();
      return false;
    });
    const encoder = new TextEncoder();
    const typed = terminal.onData((text) => {
      const bytes = encoder.encode(text);
      const isOpen = connection.current?.readyState === WebSocket.OPEN;
      if (isOpen || from !== undefined) typedBytes.add(bytes);
      if (isOpen) connection.current?.send(bytes);
    });
    connect();
    terminal.focus();
    return () => {
      isOver = true;
      observer.disconnect();
      typed.dispose();
      connection.current?.close();
      terminal.dispose();
    };
  }, [namespace, name, refusal]);

  if (refusal !== undefined) return <p>No console: {refusal}. It opens here by itself as soon as there is one.</p>;
  return (
    <section class="console" aria-label={`Serial console of ${name}`}>
      <p role="status">
        {state === 'connecting' && 'Connecting…'}
        {state === 'open' && 'Connected. Press Enter for a prompt, Ctrl+Shift+V to paste, Shift+Esc to leave.'}
        {state === 'watching' && (
          <>
            Somebody else types.{' '}
            <button type="button" onClick={() => connection.current?.send(TAKE_OVER)}>
              Take over
            </button>
          </>
        )}
      </p>
      <div class="terminal-place" ref={place} />
    </section>
  );
}
