/** What a keyboard in a browser cannot do on the screen of a guest: keys that the desktop keeps, text from elsewhere, the whole screen, a picture of it. */
import type RFB from '@novnc/novnc';
import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { systemClock } from '../base/clock.ts';
import { CHORDS, type Chord, deriveTyping, strokesOf } from './derive-keystrokes.ts';
import { Menu } from './menu.tsx';

/** A guest has room for a few keys that it has not read. */
const BETWEEN_KEYS_MS = 20;

type Props = {
  readonly name: string;
  readonly isOpen: boolean;
  readonly screen: RefObject<RFB | undefined>;
  readonly place: RefObject<HTMLElement | null>;
};

export function ScreenTools({ name, isOpen, screen, place }: Props) {
  const [isPasting, setPasting] = useState(false);
  const send = (chord: Chord) => {
    for (const { key, isDown } of strokesOf(chord)) screen.current?.sendKey(key.keysym, key.code, isDown);
  };
  return (
    <>
      <Menu label="Send keys">
        {(close) =>
          CHORDS.map(([label, chord]) => (
            <button
              key={label}
              type="button"
              disabled={!isOpen}
              onClick={() => {
                send(chord);
                close();
                screen.current?.focus();
              }}
            >
              {label}
            </button>
          ))
        }
      </Menu>
      <button type="button" disabled={!isOpen} onClick={() => setPasting(true)}>
        Type text
      </button>
      <button type="button" disabled={!isOpen} onClick={() => void place.current?.requestFullscreen().then(() => screen.current?.focus())}>
        Full screen
      </button>
      <button type="button" disabled={!isOpen} onClick={() => place.current && savePicture(place.current, name)}>
        Save picture
      </button>
      {isPasting && <TypeDialog name={name} send={send} close={() => setPasting(false)} />}
    </>
  );
}

function savePicture(place: HTMLElement, name: string): void {
  place.querySelector('canvas')?.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = `${name}.png`;
    link.click();
    URL.revokeObjectURL(link.href);
  });
}

function TypeDialog({ name, send, close }: { readonly name: string; send(chord: Chord): void; close(): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [typed, setTyped] = useState<number>();
  const left = useRef(new AbortController());
  useEffect(() => {
    dialog.current?.showModal();
    return () => left.current.abort();
  }, []);
  const { chords, without } = deriveTyping(text);
  const type = async () => {
    for (const [index, chord] of chords.entries()) {
      if (left.current.signal.aborted) return;
      setTyped(index);
      send(chord);
      await systemClock.sleep(BETWEEN_KEYS_MS);
    }
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="type-question">
      <h2 id="type-question">Type text on the screen of {name}</h2>
      <p>It is typed where the cursor of the guest is, as on a US keyboard.</p>
      <textarea
        class="script"
        rows={5}
        aria-label="Text"
        value={text}
        readOnly={typed !== undefined}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {without.length > 0 && <p class="trouble">It has no key for {without.join(' ')}: that is left out.</p>}
      <p role="status">{typed !== undefined && `${typed} of ${chords.length} typed.`}</p>
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          {typed === undefined ? 'Cancel' : 'Stop'}
        </button>
        <button type="button" class="primary" disabled={chords.length === 0 || typed !== undefined} onClick={() => void type()}>
          Type it
        </button>
      </p>
    </dialog>
  );
}
