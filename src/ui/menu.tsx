/** A button with more below it: closed by Escape, a click elsewhere, or what was chosen. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export function Menu({ label, children }: { readonly label: string; children(close: () => void): ComponentChildren }) {
  const menu = useRef<HTMLDetailsElement>(null);
  const close = () => menu.current?.removeAttribute('open');
  useEffect(() => {
    const clicked = ({ target }: Event) => target instanceof Node && !menu.current?.contains(target) && close();
    addEventListener('pointerdown', clicked);
    return () => removeEventListener('pointerdown', clicked);
  }, []);
  return (
    <details
      class="menu"
      ref={menu}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !menu.current?.open) return;
        event.stopPropagation();
        close();
        menu.current.querySelector('summary')?.focus();
      }}
    >
      <summary>{label}</summary>
      <div>{children(close)}</div>
    </details>
  );
}
