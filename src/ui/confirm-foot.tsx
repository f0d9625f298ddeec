/** The end of a dialog that changes something: the commands that do the same, what went wrong, and the two ways out. */
import { CommandLine } from './command-line.tsx';
import { MORE_COMMANDS } from './derive-bulk.ts';
import type { useWork } from './use-work.ts';

type Props = {
  readonly commands: readonly string[];
  readonly work: Pick<ReturnType<typeof useWork>, 'isBusy'> & { readonly error?: string | undefined };
  /** What is done, on the button. */
  readonly word: string;
  readonly isDanger: boolean;
  readonly isReady?: boolean;
  /** Of the way out without doing anything. */
  readonly leave?: string;
  cancel(): void;
  confirm(): void;
};

export function ConfirmFoot({ commands, work, word, isDanger, isReady = true, leave = 'Cancel', cancel, confirm }: Props) {
  return (
    <>
      {commands.map((command) =>
        command === MORE_COMMANDS ? (
          <p class="faint" key={command}>
            {command}
          </p>
        ) : (
          <CommandLine key={command} command={command} />
        ),
      )}
      {work.error && (
        <p class="trouble" role="alert">
          {work.error}
        </p>
      )}
      <p class="buttons">
        <button type="button" onClick={cancel}>
          {leave}
        </button>
        <button type="button" class={isDanger ? 'danger' : 'primary'} disabled={work.isBusy || !isReady} onClick={confirm}>
          {work.isBusy ? `${word}…` : word}
        </button>
      </p>
    </>
  );
}
