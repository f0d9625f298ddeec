/** What disks are made of: container images in use, and disks in the cluster with how far they are; imported from an address, deleted when nobody has them. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { mayCreate } from './act.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { deleteCommand, deleteRefusal, deriveImageRows, deriveUsedImages, type ImageRow } from './derive-images.ts';
import { deriveMachines } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { ImportDialog } from './import-dialog.tsx';
import { PlaceLink } from './place-link.tsx';
import { StatusWord } from './status-word.tsx';
import { useFollowed } from './use-followed.ts';
import { useWork } from './use-work.ts';

export function ImagesPage() {
  const session = useSession();
  const dataVolumes = useFollowed(DATA_VOLUMES, session.namespace);
  const claims = useFollowed(PERSISTENT_VOLUME_CLAIMS, session.namespace);
  const machines = deriveMachines(session.vms.list(), session.vmis.list());
  const rows = deriveImageRows(dataVolumes ?? [], claims ?? [], machines);
  const used = deriveUsedImages(machines);
  const [isImporting, setImporting] = useState(false);
  const [dropped, setDropped] = useState<ImageRow>();
  const namespace = session.namespace ?? session.info.namespace;
  const refusal = useImportRefusal(namespace);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and may have nothing else that keys could reach
    <main tabIndex={0}>
      <header class="bar">
        <h1>Images</h1>
        <button
          type="button"
          class="primary"
          aria-disabled={refusal !== undefined}
          title={refusal ?? ''}
          onClick={() => refusal === undefined && setImporting(true)}
        >
          Import from an address
        </button>
        {refusal !== undefined && <span class="faint">{refusal}</span>}
      </header>
      <section aria-labelledby="disks">
        <h2 id="disks">Disks in the cluster</h2>
        {dataVolumes === undefined && claims === undefined ? (
          <p role="status">Looking…</p>
        ) : rows.length === 0 ? (
          <p>
            There are none. From a file, in a terminal: <code>virtctl image-upload dv NAME --size 10Gi --image-path FILE</code>
          </p>
        ) : (
          <ImageTable rows={rows} drop={setDropped} />
        )}
      </section>
      <section aria-labelledby="container-images">
        <h2 id="container-images">Container images of machines</h2>
        {used.length === 0 ? (
          <p>No machine uses one.</p>
        ) : (
          <table class="narrow">
            <thead>
              <tr>
                <th scope="col">Image</th>
                <th scope="col">Machines</th>
              </tr>
            </thead>
            <tbody>
              {used.map(({ image, count }) => (
                <tr key={image}>
                  <td>
                    <code>{image}</code>
                  </td>
                  <td>
                    <PlaceLink to={{ page: 'machines', text: image, status: '' }}>
                      {count === 1 ? 'one machine' : `${count} machines`}
                    </PlaceLink>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </section>
      {isImporting && <ImportDialog namespace={namespace} close={() => setImporting(false)} />}
      {dropped && <DropDialog row={dropped} close={() => setDropped(undefined)} />}
    </main>
  );
}

function ImageTable({ rows, drop }: { readonly rows: readonly ImageRow[]; drop(row: ImageRow): void }) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Name</th>
          <th scope="col" class="wide">
            Size
          </th>
          <th scope="col" class="wide">
            From
          </th>
          <th scope="col" class="wide">
            Disk of
          </th>
          <th scope="col">Actions</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.key + row.kind}>
            <td>
              <StatusWord status={row.phase} tone={row.tone} />
              {row.share !== undefined && (
                <span class="block">
                  <progress class="short" aria-label={`Import of ${row.name}`} value={row.share} max={1} /> {Math.round(row.share * 100)} %
                </span>
              )}
            </td>
            <td class="name">
              <strong>{row.name}</strong> <span class="faint">{row.namespace}</span>
              {row.trouble !== undefined && <p class="trouble whole-text">{row.trouble}</p>}
            </td>
            <td class="wide">{row.size}</td>
            <td class="wide from">{row.source}</td>
            <td class="wide">{row.users.slice(0, 5).join(', ') || '–'}</td>
            <td>
              <DropButton row={row} drop={() => drop(row)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function DropButton({ row, drop }: { readonly row: ImageRow; drop(): void }) {
  const refusal = deleteRefusal(row);
  return (
    <button
      type="button"
      class="danger"
      aria-disabled={refusal !== undefined}
      title={refusal ?? deleteCommand(row)}
      aria-label={`Delete ${row.name}${refusal === undefined ? '' : `: ${refusal}`}`}
      onClick={() => refusal === undefined && drop()}
    >
      Delete
    </button>
  );
}

function DropDialog({ row, close }: { readonly row: ImageRow; close(): void }) {
  const { client } = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { namespace, name, kind } = row;
  const confirm = () =>
    work.run(async () => {
      await client.delete(kind === 'DataVolume' ? DATA_VOLUMES : PERSISTENT_VOLUME_CLAIMS, { namespace, name });
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="drop-question">
      <h2 id="drop-question">Delete {name}?</h2>
      <p>The disk and all that is on it are gone.</p>
      <ConfirmFoot
        {...{ command: deleteCommand(row), work, word: 'Delete', confirm, isDanger: true }}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}

/** Why the user cannot import; the server has the last word in any case. */
function useImportRefusal(namespace: string): string | undefined {
  const { client } = useSession();
  const [refusal, setRefusal] = useState<string>();
  useEffect(() => {
    let isWanted = true;
    void mayCreate(client, namespace, DATA_VOLUMES).then(
      (may) => isWanted && setRefusal(may ? undefined : `you may not make DataVolumes in ${namespace}`),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [client, namespace]);
  return refusal;
}
