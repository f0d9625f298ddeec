/** What was kept of a machine, as a tree: taken, gone back to, and thrown away here. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { VM_RESTORES } from '../api/kubevirt/kinds/vm-restore.ts';
import { VM_SNAPSHOTS } from '../api/kubevirt/kinds/vm-snapshot.ts';
import { VM_SNAPSHOT_CONTENTS } from '../api/kubevirt/kinds/vm-snapshot-content.ts';
import { humanDuration } from '../base/duration.ts';
import { deleteExactly } from '../sdk/delete-exactly.ts';
import { newRestore, newSnapshot, snapshotName } from '../sdk/manifest/snapshot.ts';
import { mayCreate, mayDelete } from './act.ts';
import { CommandLine } from './command-line.tsx';
import { ConfirmFoot } from './confirm-foot.tsx';
import { deriveRestore, deriveSnapshots, dropCommand, restoreCommand, type SnapshotRow, snapshotCommand } from './derive-disks.ts';
import type { Machine } from './derive-machines.ts';
import { where } from './derive-where.ts';
import { useNow, useSession } from './hooks.ts';
import { useFollowed } from './use-followed.ts';
import { useWork } from './use-work.ts';

type Asked = { readonly what: 'take' } | { readonly what: 'restore' | 'drop'; readonly snapshot: string; readonly uid: string | undefined };

export function Snapshots({ machine }: { readonly machine: Machine }) {
  const { namespace } = machine;
  const snapshots = useFollowed(VM_SNAPSHOTS, namespace);
  const contents = useFollowed(VM_SNAPSHOT_CONTENTS, namespace);
  const restores = useFollowed(VM_RESTORES, namespace);
  const { mayTake, mayRestore, mayDrop } = useRights(namespace);
  const [asked, setAsked] = useState<Asked>();
  const refusal = mayTake ? undefined : `you may not take snapshots in ${namespace}`;
  const rows = deriveSnapshots(machine, { snapshots: snapshots ?? [], contents: contents ?? [], restores: restores ?? [], mayRestore });
  const restore = deriveRestore(machine, restores ?? []);
  return (
    <section aria-labelledby="snapshots">
      <h2 id="snapshots">Snapshots</h2>
      <p class="buttons">
        <button
          type="button"
          class="primary"
          aria-disabled={refusal !== undefined}
          aria-label={`Take a snapshot${refusal ? `: ${refusal}` : ''}`}
          title={refusal ?? ''}
          onClick={() => refusal === undefined && setAsked({ what: 'take' })}
        >
          Take a snapshot
        </button>
      </p>
      {restore && <p role="status">{restore}</p>}
      {snapshots === undefined ? (
        <p>Looking…</p>
      ) : rows.length === 0 ? (
        <p>Nothing is kept of {machine.name}.</p>
      ) : (
        <SnapshotTable rows={rows} ask={setAsked} dropRefusal={mayDrop ? undefined : `you may not delete snapshots in ${namespace}`} />
      )}
      <CommandLine command={`virtctl snapshots ${machine.name}${where(namespace)}`} />
      {asked && <SnapshotDialog machine={machine} asked={asked} close={() => setAsked(undefined)} />}
    </section>
  );
}

type TableProps = { readonly rows: readonly SnapshotRow[]; readonly dropRefusal: string | undefined; ask(asked: Asked): void };

function SnapshotTable({ rows, dropRefusal, ask }: TableProps) {
  const now = useNow();
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">State</th>
          <th scope="col">Age</th>
          <th scope="col" class="wide">
            Of
          </th>
          <th scope="col" class="wide">
            Size
          </th>
          <th scope="col" class="wide">
            How
          </th>
          <th scope="col">Actions</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ indent, name, uid, phase, moment, disks, size, how, refusal }) => (
          <tr key={name}>
            <td>
              {indent && (
                <span class="tree" aria-hidden="true">
                  {indent}
                </span>
              )}
              {name}
            </td>
            <td title={how}>{phase}</td>
            <td>{moment === '' ? '–' : humanDuration(now - Date.parse(moment))}</td>
            <td class="wide">{disks}</td>
            <td class="wide">{size}</td>
            <td class="wide">{how}</td>
            <td>
              <span class="buttons">
                <button
                  type="button"
                  aria-disabled={refusal !== undefined}
                  aria-label={`Restore ${name}${refusal ? `: ${refusal}` : ''}`}
                  title={refusal ?? ''}
                  onClick={() => refusal === undefined && ask({ what: 'restore', snapshot: name, uid })}
                >
                  Restore
                </button>
                <button
                  type="button"
                  class="danger"
                  aria-disabled={dropRefusal !== undefined}
                  aria-label={`Delete ${name}${dropRefusal ? `: ${dropRefusal}` : ''}`}
                  title={dropRefusal ?? ''}
                  onClick={() => dropRefusal === undefined && ask({ what: 'drop', snapshot: name, uid })}
                >
                  Delete
                </button>
              </span>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const QUESTIONS = {
  take: [
    'Take a snapshot',
    'The machine and its disks on PVCs are kept as they are. A running guest is frozen for a moment, where its agent can do that.',
  ],
  restore: ['Restore', 'The machine becomes what it was, with new disks made from the snapshot. What was written since is not on them.'],
  drop: ['Delete', 'The snapshot is gone. The machine stays as it is.'],
} as const;

function SnapshotDialog({ machine, asked, close }: { readonly machine: Machine; readonly asked: Asked; close(): void }) {
  const { client } = useSession();
  const { namespace, name: vm } = machine;
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  const [name, setName] = useState(() => (asked.what === 'take' ? snapshotName(vm, Date.now()) : asked.snapshot));
  useEffect(() => dialog.current?.showModal(), []);
  const [word, effect] = QUESTIONS[asked.what];
  const confirm = () =>
    work.run(async () => {
      if (asked.what === 'take') await client.create(VM_SNAPSHOTS, newSnapshot({ namespace, vm, name }));
      if (asked.what === 'restore') await client.create(VM_RESTORES, newRestore({ namespace, vm, snapshot: name, nowMs: Date.now() }));
      // the one that was shown, not one that has its name by now
      if (asked.what === 'drop') await deleteExactly(client, VM_SNAPSHOTS, { namespace, name, ...(asked.uid && { uid: asked.uid }) });
      close();
    });
  const command = { take: snapshotCommand, restore: restoreCommand, drop: dropCommand }[asked.what](machine, name);
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="snapshot-question">
      <h2 id="snapshot-question">{asked.what === 'take' ? `${word} of ${vm}?` : `${word} ${name}?`}</h2>
      <p>{effect}</p>
      {asked.what === 'take' && (
        <label>
          Name
          <input value={name} onInput={(event) => setName(event.currentTarget.value.trim())} />
        </label>
      )}
      <ConfirmFoot
        {...{ commands: [command], work, word, confirm, isDanger: asked.what === 'drop', isReady: name !== '' }}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}

/** The server has the last word in any case. */
function useRights(namespace: string): { readonly mayTake: boolean; readonly mayRestore: boolean; readonly mayDrop: boolean } {
  const { client } = useSession();
  const [rights, setRights] = useState({ mayTake: true, mayRestore: true, mayDrop: true });
  useEffect(() => {
    let isWanted = true;
    const asked = [
      mayCreate(client, namespace, VM_SNAPSHOTS),
      mayCreate(client, namespace, VM_RESTORES),
      mayDelete(client, namespace, VM_SNAPSHOTS),
    ] as const;
    void Promise.all(asked).then(
      ([mayTake, mayRestore, mayDrop]) => isWanted && setRights({ mayTake, mayRestore, mayDrop }),
      () => {}, // it was not asked then
    );
    return () => {
      isWanted = false;
    };
  }, [client, namespace]);
  return rights;
}
