/** What differs between two texts; with the two ways out where it is about a change. */
import { useEffect, useRef } from 'preact/hooks';
import { ConfirmFoot } from './confirm-foot.tsx';
import { deriveDiff } from './derive-diff.ts';
import type { useWork } from './use-work.ts';

type Props = {
  readonly title: string;
  readonly before: string;
  readonly after: string;
  close(): void;
} & ({ readonly command: string; readonly work: ReturnType<typeof useWork>; confirm(): void } | { readonly command?: undefined });

const WORDS = { ' ': '', '…': '', '-': 'removed: ', '+': 'added: ' } as const;

export function DiffDialog(props: Props) {
  const { title, before, after, close } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const leave = () => dialog.current?.close();
  return (
    <dialog ref={dialog} class="diff" onClose={close} aria-labelledby="diff-title">
      <h2 id="diff-title">{title}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has nothing else that keys could reach */}
      <section tabIndex={0} aria-label="What differs">
        <pre>
          {deriveDiff(before, after).map(({ sign, text }, index) => (
            <span key={index} class={sign === '+' ? 'come' : sign === '-' ? 'gone' : ''}>
              <span class="unseen">{WORDS[sign]}</span>
              {`${sign} ${text}\n`}
            </span>
          ))}
        </pre>
      </section>
      {props.command === undefined ? (
        <p class="buttons">
          <button type="button" onClick={leave}>
            Close
          </button>
        </p>
      ) : (
        <ConfirmFoot
          {...{ commands: [props.command], work: props.work, word: 'Save', confirm: props.confirm, cancel: leave, isDanger: false }}
        />
      )}
    </dialog>
  );
}
