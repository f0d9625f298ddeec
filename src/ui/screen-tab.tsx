/** The screen of the guest, with keyboard and mouse. */
import RFB from '@novnc/novnc';
import { useEffect, useRef, useState } from 'preact/hooks';
import { subresourcePath } from '../api/kubevirt/subresource-path.ts';
import { STREAM_SUBPROTOCOL } from '../api/kubevirt/subresources.ts';
import { vmiRefusalOf } from '../api/kubevirt/vm-can.ts';
import { backoffMs } from '../base/backoff.ts';
import type { Machine } from './derive-machines.ts';
import { ScreenTools } from './screen-tools.tsx';

const BACKOFF = { firstMs: 500, capMs: 10_000 };

export function ScreenTab({ machine }: { readonly machine: Machine }) {
  const { namespace, name, vmi } = machine;
  const refusal = vmi ? vmiRefusalOf('vnc', vmi)?.message : 'the machine does not run';
  const place = useRef<HTMLDivElement>(null);
  const screen = useRef<RFB>(undefined);
  const [isOpen, setOpen] = useState(false);

  useEffect(() => {
    const element = place.current;
    if (!element || refusal !== undefined) return;
    let isOver = false;
    let failures = 0;
    const connect = () => {
      if (isOver) return;
      const path = subresourcePath({ resource: 'virtualmachineinstances', namespace, name }, 'vnc', { shared: true });
      const rfb = new RFB(element, `${location.origin.replace(/^http/, 'ws')}${path}`, { wsProtocols: [STREAM_SUBPROTOCOL] });
      screen.current = rfb;
      rfb.scaleViewport = true;
      rfb.background = '#000';
      rfb.addEventListener('connect', () => {
        failures = 0;
        setOpen(true);
      });
      rfb.addEventListener('disconnect', () => {
        setOpen(false);
        failures += 1;
        setTimeout(connect, backoffMs(BACKOFF, failures));
      });
    };
    connect();
    return () => {
      isOver = true;
      screen.current?.disconnect();
    };
  }, [namespace, name, refusal]);

  if (refusal !== undefined) return <p>No screen: {refusal}. It opens here by itself as soon as there is one.</p>;
  return (
    <section class="console" aria-label={`Screen of ${name}`}>
      <div class="buttons screen-tools">
        <span role="status">{isOpen ? 'Connected.' : 'Connecting…'}</span>
        <ScreenTools name={name} isOpen={isOpen} screen={screen} place={place} />
      </div>
      <div class="screen-place" ref={place} />
    </section>
  );
}
