/** Attaches a disk to a machine, a new one or one that is there, and detaches one again. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { DEFAULT_HOTPLUG_BUS, HOTPLUG_BUSES } from '../api/kubevirt/hotplug.ts';
import { isFinal } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { sharedWhereItCanBe } from '../sdk/access-modes.ts';
import { putSubresource } from '../sdk/machine-actions.ts';
import { ConfirmFoot } from './confirm-foot.tsx';
import { isSize } from './derive-images.ts';
import { deriveMachines, type Machine } from './derive-machines.ts';
import {
  deriveFreeClaims,
  emptyClaim,
  isKept,
  newClaimName,
  type Plug,
  plugBody,
  plugCommands,
  plugTarget,
  unplugCommand,
} from './derive-plug.ts';
import { useSession } from './hooks.ts';
import { useFollowed } from './use-followed.ts';
import { useWork } from './use-work.ts';

type Props = { readonly machine: Machine; close(): void };

export function AttachDialog({ machine, close }: Props) {
  const { namespace, name, vm, vmi } = machine;
  const session = useSession();
  const { client } = session;
  const claims = useFollowed(PERSISTENT_VOLUME_CLAIMS, namespace);
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const [wish, setWish] = useState({
    isNew: true,
    name: '',
    free: '',
    size: '10Gi',
    bus: DEFAULT_HOTPLUG_BUS as string,
    stays: vm !== undefined,
  });
  const change = (changed: Partial<typeof wish>) => setWish((before) => ({ ...before, ...changed }));
  const free = deriveFreeClaims(machine, claims ?? [], deriveMachines(session.vms.list(), session.vmis.list()));
  const offered = newClaimName(name, claims ?? []);
  const plug: Plug = {
    claim: wish.isNew ? wish.name || offered : wish.free || (free[0] ?? ''),
    size: wish.isNew ? wish.size : undefined,
    bus: wish.bus,
    stays: wish.stays,
  };
  const made = plug.size === undefined ? undefined : emptyClaim(namespace, plug);
  const isRunning = vmi !== undefined && !isFinal(vmi);
  const isReady = plug.claim !== '' && (plug.size === undefined || isSize(plug.size));
  const confirm = () =>
    work.run(async () => {
      // made already, where attaching it was refused the first time
      const isThere = claims?.some(({ metadata }) => metadata.name === plug.claim) ?? false;
      if (made && !isThere) await client.create(PERSISTENT_VOLUME_CLAIMS, await sharedWhereItCanBe(client, made));
      const at = { resource: plugTarget(machine, plug.stays), verb: 'addvolume' } as const;
      await (await putSubresource({ client, namespace, name }, at, plugBody(plug))).body?.cancel();
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="attach-question">
      <h2 id="attach-question">Attach a disk to {name}</h2>
      <p>{isRunning ? 'The guest sees it at once, as a new disk.' : 'The guest finds it at its next start.'}</p>
      <form onSubmit={(event) => event.preventDefault()}>
        <label>
          <input type="radio" name="which" checked={wish.isNew} onChange={() => change({ isNew: true })} />
          New and empty
        </label>
        <label>
          <input type="radio" name="which" checked={!wish.isNew} disabled={free.length === 0} onChange={() => change({ isNew: false })} />
          One that no machine has{claims !== undefined && free.length === 0 && <span class="faint">: there is none in {namespace}</span>}
        </label>
        {wish.isNew ? (
          <>
            <label>
              Name
              <input value={wish.name} placeholder={offered} onInput={(event) => change({ name: event.currentTarget.value.trim() })} />
            </label>
            <label>
              Size of the disk
              <input
                value={wish.size}
                aria-invalid={!isSize(wish.size)}
                onInput={(event) => change({ size: event.currentTarget.value.trim() })}
              />
            </label>
          </>
        ) : (
          <label>
            Disk{' '}
            <select value={plug.claim} onChange={(event) => change({ free: event.currentTarget.value })}>
              {free.map((each) => (
                <option key={each}>{each}</option>
              ))}
            </select>
          </label>
        )}
        <label>
          Bus{' '}
          <select value={wish.bus} onChange={(event) => change({ bus: event.currentTarget.value })}>
            {HOTPLUG_BUSES.map((each) => (
              <option key={each}>{each}</option>
            ))}
          </select>
        </label>
        {vm && isRunning && (
          <label>
            <input type="checkbox" checked={wish.stays} onChange={(event) => change({ stays: event.currentTarget.checked })} />
            It stays after a restart
          </label>
        )}
      </form>
      <ConfirmFoot
        {...{ commands: plugCommands(machine, plug, made), work, word: 'Attach', confirm, isDanger: false, isReady }}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}

export function DetachDialog({ machine, disk, close }: Props & { readonly disk: string }) {
  const { client } = useSession();
  const { namespace, name } = machine;
  const work = useWork();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  const confirm = () =>
    work.run(async () => {
      const at = { resource: plugTarget(machine, isKept(machine, disk)), verb: 'removevolume' } as const;
      await (await putSubresource({ client, namespace, name }, at, { name: disk })).body?.cancel();
      close();
    });
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="detach-question">
      <h2 id="detach-question">
        Detach {disk} from {name}?
      </h2>
      <p>The guest loses it at once: unmount it there before. The disk and what is on it stay, under Images.</p>
      <ConfirmFoot
        {...{ commands: [unplugCommand(machine, disk)], work, word: 'Detach', confirm, isDanger: true }}
        cancel={() => dialog.current?.close()}
      />
    </dialog>
  );
}
