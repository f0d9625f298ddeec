/** A file that was dropped becomes a disk of the cluster: under which name and how large, or the rest of what an earlier try has sent. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { pathOf } from '../api/resource.ts';
import { formatBytes } from '../base/quantity.ts';
import { dataVolumeFor } from '../sdk/upload/upload-objects.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { type ImageRow, isSize } from './derive-images.ts';
import { HEAD_BYTES, interruptedUpload, proposedUpload, type UploadWish, uploadCommand } from './derive-upload.ts';
import { useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useWork } from './use-work.ts';

type Props = { readonly namespace: string; readonly file: File; readonly rows: readonly ImageRow[]; close(): void };

export function UploadDialog({ namespace, file, rows, close }: Props) {
  const { uploads } = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  const [wish, setWish] = useState<UploadWish>();
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    let isWanted = true;
    void work.run(async () => {
      const head = new Uint8Array(await file.slice(0, HEAD_BYTES).arrayBuffer());
      if (isWanted) setWish(proposedUpload(namespace, file, head));
    });
    return () => {
      isWanted = false;
    };
  }, [file, namespace]);
  const change = (changed: Partial<UploadWish>) => setWish((before) => before && { ...before, ...changed });
  const goesOn = wish !== undefined && interruptedUpload(rows, wish);
  const isReady = wish !== undefined && wish.name !== '' && isSize(wish.size);
  const body = wish && isReady && !goesOn ? JSON.stringify(dataVolumeFor({ ...wish, isBoundAtOnce: true })) : undefined;
  const { refusal } = useDryRun(body === undefined ? undefined : { method: 'POST', path: pathOf(DATA_VOLUMES, { namespace }), body });
  const confirm = () => {
    if (!wish) return;
    uploads.begin(wish, file, goesOn);
    dialog.current?.close();
  };
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="upload-question">
      <h2 id="upload-question">Upload a disk</h2>
      <p>
        <code>{file.name}</code>, {formatBytes(Math.ceil(file.size / 2 ** 20) * 2 ** 20)}
      </p>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          Name
          <input value={wish?.name ?? ''} onInput={(event) => change({ name: event.currentTarget.value.trim() })} />
        </label>
        {!goesOn && (
          <label>
            Size of the disk
            <input
              value={wish?.size ?? ''}
              aria-invalid={wish !== undefined && !isSize(wish.size)}
              onInput={(event) => change({ size: event.currentTarget.value.trim() })}
            />
          </label>
        )}
      </form>
      {goesOn && <p role="status">{wish.name} waits for a file. When it is this one, what has arrived is not sent again.</p>}
      {refusal !== undefined && (
        <p class="trouble" role="alert">
          {refusal}
        </p>
      )}
      <ConfirmFoot
        {...{ work, word: goesOn ? 'Continue' : 'Upload', confirm, isDanger: false, isReady: isReady && refusal === undefined }}
        commands={wish ? [uploadCommand(wish, file.name, goesOn)] : []}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
