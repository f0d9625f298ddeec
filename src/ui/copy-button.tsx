import { useState } from 'preact/hooks';

const SAID_MS = 2000;

/** Copies a command; says so for a moment. */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const [said, setSaid] = useState('');
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => {
        setSaid('Copied');
        setTimeout(() => setSaid(''), SAID_MS);
      },
      () => setSaid('The browser does not allow it'),
    );
  return (
    <>
      <button type="button" class="small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
        Copy
      </button>{' '}
      <span role="status" class="faint">
        {said}
      </span>
    </>
  );
}
