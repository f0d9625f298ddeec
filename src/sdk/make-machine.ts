/** Makes the objects of a machine. */
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, type PersistentVolumeClaim } from '../api/core/volume.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import { sharedWhereItCanBe } from './access-modes.ts';
import { buildFolderVolume } from './manifest/shared-folder.ts';

/** What is to be made; without a claim nothing that the guest writes is kept. */
export type Wanted = {
  readonly vm: VirtualMachine;
  readonly claim?: PersistentVolumeClaim;
  /** Folders of this machine, each with the claim that the new one has it by. */
  readonly folders?: readonly FolderClaim[];
};
export type FolderClaim = { readonly claim: PersistentVolumeClaim; readonly path: string };

type Where = { readonly client: Client; readonly namespace: string };

/** Asked before an image is brought in, too: a download of minutes is not for a machine that cannot be made. */
export async function assertNameIsFree(name: string, { client, namespace }: Where): Promise<void> {
  if (await client.get(VMS, { namespace, name }))
    throw new ApiError('AlreadyExists', `virtualmachines.kubevirt.io "${name}" already exists`);
}

/**
 * The claims first, so that the machine finds them; then they belong to the machine and go with it. A machine that is refused leaves none. The
 * volume of a folder is made for a claim that is there, and ends with it: nobody else can have it in between.
 */
export async function makeMachine({ vm, claim, folders = [] }: Wanted, { client, namespace }: Where): Promise<VirtualMachine> {
  const at = <T extends VirtualMachine | PersistentVolumeClaim>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  if (!claim && folders.length === 0) return client.create(VMS, at(vm));
  await assertNameIsFree(vm.metadata.name, { client, namespace }); // rather than that its claim exists
  const made: PersistentVolumeClaim[] = [];
  try {
    if (claim) made.push(await client.create(PERSISTENT_VOLUME_CLAIMS, at(await sharedWhereItCanBe(client, claim))));
    for (const folder of folders) {
      const created = await client.create(PERSISTENT_VOLUME_CLAIMS, at(folder.claim));
      made.push(created);
      await client.create(PERSISTENT_VOLUMES, buildFolderVolume(created, folder.path));
    }
    const created = await client.create(VMS, at(vm));
    const { name, uid } = created.metadata;
    const ownerReferences = [{ apiVersion: created.apiVersion, kind: created.kind, name, uid }];
    for (const { metadata } of made.splice(0)) await client.patch(PERSISTENT_VOLUME_CLAIMS, metadata, { metadata: { ownerReferences } });
    return created;
  } catch (error) {
    for (const { metadata } of made) await client.delete(PERSISTENT_VOLUME_CLAIMS, metadata, { uid: metadata.uid });
    throw error;
  }
}
