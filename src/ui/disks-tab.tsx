/** The disks of a machine, attached and detached while it runs, and what was kept of it. */
import { useState } from 'preact/hooks';
import { AttachDialog, DetachDialog } from './attach-dialog.tsx';
import { deriveDisks } from './derive-disks.ts';
import type { Machine } from './derive-machines.ts';
import { Snapshots } from './snapshots-part.tsx';
import { useMayPlug } from './use-may-plug.ts';

const FIXED = 'the guest was started with it: take it out of the YAML, and restart';

export function DisksTab({ machine }: { readonly machine: Machine }) {
  return (
    <>
      <Disks machine={machine} />
      {machine.vm && <Snapshots machine={machine} />}
    </>
  );
}

function Disks({ machine }: { readonly machine: Machine }) {
  const { namespace, name } = machine;
  const mayPlug = useMayPlug(machine);
  const [isAttaching, setAttaching] = useState(false);
  const [leaving, setLeaving] = useState<string>();
  const forbidden = (what: string) => (mayPlug ? undefined : `you may not ${what} disks of machines in ${namespace}`);
  return (
    <section aria-labelledby="disks">
      <h2 id="disks">Disks</h2>
      <p class="buttons">
        <RefusedButton label="Attach a disk" refusal={forbidden('attach')} does={() => setAttaching(true)} />
      </p>
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">In the guest</th>
            <th scope="col" class="wide">
              From
            </th>
            <th scope="col">Size</th>
            <th scope="col">Actions</th>
          </tr>
        </thead>
        <tbody>
          {deriveDisks(machine).map(({ name: disk, target, source, size, canGo, state }) => (
            <tr key={disk}>
              <td title={source}>{disk}</td>
              <td>{state ?? target}</td>
              <td class="wide">{source}</td>
              <td>{size}</td>
              <td>
                <RefusedButton
                  label="Detach"
                  of={disk}
                  refusal={forbidden('detach') ?? (canGo ? undefined : FIXED)}
                  does={() => setLeaving(disk)}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {isAttaching && <AttachDialog machine={machine} close={() => setAttaching(false)} />}
      {leaving !== undefined && (
        <DetachDialog machine={machine} disk={leaving} close={() => setLeaving(undefined)} key={`${name} ${leaving}`} />
      )}
    </section>
  );
}

type ButtonProps = { readonly label: string; readonly of?: string; readonly refusal: string | undefined; does(): void };

function RefusedButton({ label, of, refusal, does }: ButtonProps) {
  const whole = of === undefined ? label : `${label} ${of}`;
  return (
    <button
      type="button"
      aria-disabled={refusal !== undefined}
      aria-label={refusal === undefined ? whole : `${whole}: ${refusal}`}
      title={refusal ?? ''}
      onClick={() => refusal === undefined && does()}
    >
      {label}
    </button>
  );
}
