/** The serial console in a terminal: with what was printed before, shared with other viewers, and back by itself when the connection broke. */
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { useEffect, useRef, useState } from 'preact/hooks';
import { TAKE_OVER, TURNS } from '../api/handler/turns.ts';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { backoffMs } from '../base/backoff.ts';
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
    const connect = () => {
      if (isOver) return;
      const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'console', { shared: true });
      const socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}${path}`, [STREAM_SUBPROTOCOL]);
      connection.current = socket;
      socket.binaryType = 'arraybuffer';
      socket.onopen = () => {
        failures = 0;
        terminal.reset(); // what was printed comes again
        setState('open');
      };
      socket.onmessage = ({ data }) => {
        if (typeof data === 'string') setState(data === TURNS.mine ? 'open' : 'watching');
        else terminal.write(new Uint8Array(data));
      };
      socket.onclose = () => {
        setState('connecting');
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
      if (connection.current?.readyState === WebSocket.OPEN) connection.current.send(encoder.encode(text));
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
        {state === 'open' && 'Connected. Press Enter for a prompt, Shift+Esc to leave.'}
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
