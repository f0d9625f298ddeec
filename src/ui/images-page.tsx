/** What disks are made of: container images in use, and disks in the cluster with how far they are; imported from an address or sent from here, deleted when nobody has them. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { DATA_VOLUMES } from '../api/kubevirt/kinds/data-volume.ts';
import { keyOf } from '../api/meta.ts';
import { deleteExactly } from '../sdk/delete-exactly.ts';
import { mayCreate, mayUpload, rightToDelete } from './act.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { deleteCommand, deriveImageRows, deriveUsedImages, type ImageRow } from './derive-images.ts';
import { deriveMachines } from './derive-machines.ts';
import { awaitsFile } from './derive-upload.ts';
import { DropZone } from './drop-zone.tsx';
import { useSession } from './hooks.ts';
import { ImageTable } from './image-table.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { PlaceLink } from './place-link.tsx';
import { UploadDialog } from './upload-dialog.tsx';
import { useFollowed } from './use-followed.ts';
import { useMay } from './use-may.ts';
import { useWork } from './use-work.ts';

export function ImagesPage() {
  const session = useSession();
  const dataVolumes = useFollowed(DATA_VOLUMES, session.namespace);
  const claims = useFollowed(PERSISTENT_VOLUME_CLAIMS, session.namespace);
  const machines = deriveMachines(session.vms.list(), session.vmis.list());
  const rows = deriveImageRows(dataVolumes ?? [], claims ?? [], machines);
  const used = deriveUsedImages(machines);
  const [isImporting, setImporting] = useState(false);
  const [files, setFiles] = useState<readonly File[]>([]);
  const [file] = files;
  const [dropped, setDropped] = useState<ImageRow>();
  const unmade = session.uploads.list().filter((each) => each.stage === 'failed' && !rows.some((row) => row.key === keyOf(each)));
  const namespace = session.namespace ?? session.info.namespace;
  const refusal = useImportRefusal(namespace);
  return (
    <DropZone
      refusal={refusal}
      take={(files) => setFiles((before) => [...before, ...files])}
      head={
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
      }
    >
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
        {unmade.map(({ namespace: of, name, why }) => (
          <p class="trouble" role="alert" key={`${of}/${name}`}>
            {name} is not there: {why}
          </p>
        ))}
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
      {file && (
        <UploadDialog
          key={`${file.name} ${files.length}`}
          {...{ namespace, file, rows }}
          close={() => setFiles((before) => before.slice(1))}
        />
      )}
      {dropped && <DropDialog row={dropped} close={() => setDropped(undefined)} />}
    </DropZone>
  );
}

function DropDialog({ row, close }: { readonly row: ImageRow; close(): void }) {
  const { client, uploads } = useSession();
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const { namespace, name, kind } = row;
  const isUpload = awaitsFile(row);
  const resource = kind === 'DataVolume' ? DATA_VOLUMES : PERSISTENT_VOLUME_CLAIMS;
  const isAllowed = useMay(namespace, rightToDelete(resource));
  const confirm = () =>
    work.run(async () => {
      if (isUpload) await uploads.cancel({ namespace, name });
      else await deleteExactly(client, resource, row);
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="drop-question">
      <h2 id="drop-question">{isUpload ? `End the upload of ${name}?` : `Delete ${name}?`}</h2>
      <p>{isUpload ? 'What was sent of it is gone.' : 'The disk and all that is on it are gone.'}</p>
      {!isAllowed && (
        <p class="trouble" role="alert">
          You may not delete disks in {namespace}.
        </p>
      )}
      <ConfirmFoot
        {...{ commands: [deleteCommand(row)], work, word: 'Delete', confirm, isDanger: true, isReady: isAllowed }}
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
    void Promise.all([mayCreate(client, namespace, DATA_VOLUMES), mayUpload(client, namespace)]).then(
      ([mayMake, maySend]) => isWanted && setRefusal(mayMake && maySend ? undefined : `you may not make disks in ${namespace}`),
      () => {},
    );
    return () => {
      isWanted = false;
    };
  }, [client, namespace]);
  return refusal;
}
