/** The end of a dialog that changes something: the command that does the same, what went wrong, and the two ways out. */
import type { useWork } from './use-work.ts';

type Props = {
  readonly command: string;
  readonly work: ReturnType<typeof useWork>;
  /** What is done, on the button. */
  readonly word: string;
  readonly isDanger: boolean;
  readonly isReady?: boolean;
  cancel(): void;
  confirm(): void;
};

export function ConfirmFoot({ command, work, word, isDanger, isReady = true, cancel, confirm }: Props) {
  return (
    <>
      <p class="faint">
        The same in a terminal: <code>{command}</code>
      </p>
      {work.error && (
        <p class="trouble" role="alert">
          {work.error}
        </p>
      )}
      <p class="buttons">
        <button type="button" onClick={cancel}>
          Cancel
        </button>
        <button type="button" class={isDanger ? 'danger' : 'primary'} disabled={work.isBusy || !isReady} onClick={confirm}>
          {word}
        </button>
      </p>
    </>
  );
}
