/** Disks in the cluster, a row each: how far it is, whose disk it is, and what can be done; with the buttons of those that this page sends. */

import { deleteCommand, deleteRefusal, type ImageRow } from './derive-images.ts';
import { awaitsFile, type Upload, uploadShare, uploadWords } from './derive-upload.ts';
import { useNow, useSession } from './hooks.ts';
import { type Column, ColumnHeads, NameCell } from './list-parts.tsx';
import { StatusWord } from './status-word.tsx';

const COLUMNS: readonly Column[] = [
  { label: 'Status' },
  { label: 'Name' },
  { label: 'Size', isWide: true },
  { label: 'From', isWide: true },
  { label: 'Disk of', isWide: true },
  { label: 'Actions' },
];

export function ImageTable({ rows, drop }: { readonly rows: readonly ImageRow[]; drop(row: ImageRow): void }) {
  return (
    <table>
      <thead>
        <tr>
          <ColumnHeads columns={COLUMNS} />
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.key + row.kind} row={row} drop={() => drop(row)} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ row, drop }: { readonly row: ImageRow; drop(): void }) {
  const { uploads } = useSession();
  const upload = row.kind === 'DataVolume' && awaitsFile(row) ? uploads.of(row) : undefined;
  const what = row.trouble ?? (upload?.stage === 'failed' ? upload.why : undefined);
  return (
    <tr>
      <td>
        <StatusWord status={row.phase} tone={row.tone} />
        <Progress row={row} upload={upload} />
      </td>
      <NameCell namespace={row.namespace} trouble={what === undefined ? undefined : { what, isWhole: true }}>
        <strong>{row.name}</strong>
      </NameCell>
      <td class="wide">{row.size}</td>
      <td class="wide from">{row.source}</td>
      <td class="wide">{row.users.slice(0, 5).join(', ') || '–'}</td>
      <td class="actions">
        {upload && <UploadButton upload={upload} />}
        <DropButton row={row} drop={drop} />
      </td>
    </tr>
  );
}

function Progress({ row, upload }: { readonly row: ImageRow; readonly upload: Upload | undefined }) {
  const now = useNow();
  const share = upload?.progress ? uploadShare(upload) : row.share;
  const words = upload ? uploadWords(upload, now) : awaitsFile(row) ? 'Waits for its file: drop it here again' : undefined;
  return (
    <>
      {share !== undefined && (
        <span class="block">
          <progress class="short" aria-label={`${upload ? 'Upload' : 'Import'} of ${row.name}`} value={share} max={1} />{' '}
          {!upload && `${Math.round(share * 100)} %`}
        </span>
      )}
      {words !== undefined && upload?.stage !== 'failed' && <span class="block faint small-text">{words}</span>}
    </>
  );
}

function UploadButton({ upload }: { readonly upload: Upload }) {
  const { uploads } = useSession();
  const isGoing = upload.stage === 'beginning' || upload.stage === 'sending';
  if (upload.stage === 'done') return null;
  return (
    <button
      type="button"
      aria-label={`${isGoing ? 'Pause' : 'Continue'} ${upload.name}`}
      onClick={() => (isGoing ? uploads.pause(upload) : uploads.goOn(upload))}
    >
      {isGoing ? 'Pause' : 'Continue'}
    </button>
  );
}

function DropButton({ row, drop }: { readonly row: ImageRow; drop(): void }) {
  const refusal = deleteRefusal(row);
  const word = awaitsFile(row) ? 'Cancel' : 'Delete';
  return (
    <button
      type="button"
      class="danger"
      aria-disabled={refusal !== undefined}
      title={refusal ?? deleteCommand(row)}
      aria-label={`${word} ${row.name}${refusal === undefined ? '' : `: ${refusal}`}`}
      onClick={() => refusal === undefined && drop()}
    >
      {word}
    </button>
  );
}
