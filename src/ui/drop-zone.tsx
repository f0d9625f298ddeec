/** Where files are dropped, or chosen by whoever has no mouse. */
import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

type Props = {
  readonly refusal: string | undefined;
  take(files: readonly File[]): void;
  /** Before the place where it says so. */
  readonly head: ComponentChildren;
  readonly children: ComponentChildren;
};

/** The whole page takes them; a part of it says so. */
export function DropZone({ refusal, take, head, children }: Props) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const isFile = (event: DragEvent) => event.dataTransfer?.types.includes('Files') === true;
  const over = (event: DragEvent) => {
    if (!isFile(event)) return;
    event.preventDefault(); // else the browser opens the file
    setOver(refusal === undefined);
  };
  const drop = (event: DragEvent) => {
    if (!isFile(event)) return;
    event.preventDefault();
    setOver(false);
    if (refusal === undefined) take([...(event.dataTransfer?.files ?? [])]);
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and may have nothing else that keys could reach
    <main tabIndex={0} onDragOver={over} onDragLeave={() => setOver(false)} onDrop={drop}>
      {head}
      <p class={isOver ? 'drop over' : 'drop'}>
        <button
          type="button"
          aria-disabled={refusal !== undefined}
          title={refusal ?? ''}
          onClick={() => refusal === undefined && input.current?.click()}
        >
          Upload a file
        </button>{' '}
        {isOver
          ? 'Let go: it becomes a disk of the cluster.'
          : 'or drop it here: raw, qcow2, VMDK or VHDX; compressed with gzip, xz or zstd, too.'}
      </p>
      <input
        ref={input}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label="File of a disk"
        onChange={(event) => {
          take([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = ''; // the same one may be chosen again
        }}
      />
      {children}
    </main>
  );
}
