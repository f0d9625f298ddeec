/** A disk from an address: the server is asked before, and says at the field what is wrong. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { pathOf } from '../api/resource.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { type Import, importedVolume, isSize, nameOfAddress } from './derive-images.ts';
import { useSession } from './hooks.ts';
import { useDryRun } from './use-dry-run.ts';
import { useWork } from './use-work.ts';

export function ImportDialog({ namespace, close }: { readonly namespace: string; close(): void }) {
  const { client } = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  const [wish, setWish] = useState<Import>({ namespace, name: '', url: '', size: '10Gi', checksum: '' });
  const change = (changed: Partial<Import>) => setWish((before) => ({ ...before, ...changed }));
  useEffect(() => dialog.current?.showModal(), []);
  const isReady = /^https?:\/\/./.test(wish.url) && wish.name !== '' && isSize(wish.size);
  const body = JSON.stringify(importedVolume(wish));
  const { refusal } = useDryRun(isReady ? { method: 'POST', path: pathOf(DATA_VOLUMES, { namespace: wish.namespace }), body } : undefined);
  const confirm = () =>
    work.run(async () => {
      await client.create(DATA_VOLUMES, importedVolume(wish));
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="import-question">
      <h2 id="import-question">Import a disk</h2>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          Address
          <input
            type="url"
            placeholder="https://…/disk.qcow2"
            value={wish.url}
            onInput={(event) => {
              const url = event.currentTarget.value.trim();
              change({ url, ...(wish.name === nameOfAddress(wish.url) && { name: nameOfAddress(url) }) });
            }}
          />
        </label>
        <label>
          Name
          <input value={wish.name} onInput={(event) => change({ name: event.currentTarget.value.trim() })} />
        </label>
        <label>
          Size of the disk
          <input
            value={wish.size}
            aria-invalid={!isSize(wish.size)}
            onInput={(event) => change({ size: event.currentTarget.value.trim() })}
          />
        </label>
        <label>
          Checksum, where one is known
          <input placeholder="sha256:…" value={wish.checksum} onInput={(event) => change({ checksum: event.currentTarget.value.trim() })} />
        </label>
      </form>
      {refusal !== undefined && (
        <p class="trouble" role="alert">
          {refusal}
        </p>
      )}
      <ConfirmFoot
        {...{ work, word: 'Import', confirm, isDanger: false, isReady: isReady && refusal === undefined }}
        commands={[`kubectl create -f - <<< '${body.replaceAll("'", `'\\''`)}'`]}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
