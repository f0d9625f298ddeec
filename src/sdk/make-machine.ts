/** Makes the objects of a machine. */
import { PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES, type PersistentVolumeClaim } from '../api/core/volume.ts';
import { type VirtualMachine, VMS } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { KubeObject } from '../api/meta.ts';
import { pathOf, type Resource } from '../api/resource.ts';
import { ApiError, isApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import { sharedWhereItCanBe } from './access-modes.ts';
import { claimNamesOf } from './disk-fates.ts';
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
 * Everything is asked about before anything is made: what the cluster refuses leaves nothing. Then the claims first, so that the machine finds them; they
 * belong to the machine and go with it. Of a machine that is refused after all the claims are deleted. The volume of a folder is made for a claim that is
 * there, and ends with it: nobody else can have it in between.
 */
export async function makeMachine({ vm, claim, folders = [] }: Wanted, { client, namespace }: Where): Promise<VirtualMachine> {
  const at = <T extends VirtualMachine | PersistentVolumeClaim>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  if (!claim && folders.length === 0) return client.create(VMS, at(vm));
  await assertNameIsFree(vm.metadata.name, { client, namespace }); // rather than that its claim exists
  const disk = claim && at(await sharedWhereItCanBe(client, claim));
  await Promise.all([
    tryToCreate(client, VMS, at(vm)),
    ...(disk ? [tryToCreate(client, PERSISTENT_VOLUME_CLAIMS, disk)] : []),
    ...folders.map((folder) => tryToCreate(client, PERSISTENT_VOLUME_CLAIMS, at(folder.claim))),
  ]);
  const made: PersistentVolumeClaim[] = [];
  let created: VirtualMachine;
  try {
    if (disk) made.push(await client.create(PERSISTENT_VOLUME_CLAIMS, disk));
    for (const folder of folders) {
      const claimed = await client.create(PERSISTENT_VOLUME_CLAIMS, at(folder.claim));
      made.push(claimed);
      await client.create(PERSISTENT_VOLUMES, buildFolderVolume(claimed, folder.path));
    }
    created = await createOrFind(client, at(vm));
  } catch (error) {
    throw error instanceof UnknownEnd ? error.toApiError(made) : await cleanedUp(client, made, error);
  }
  const { name, uid } = created.metadata;
  const ownerReferences = [{ apiVersion: created.apiVersion, kind: created.kind, name, uid }];
  for (const { metadata } of made) await client.patch(PERSISTENT_VOLUME_CLAIMS, metadata, { metadata: { ownerReferences } });
  return created;
}

/** Throws what the cluster would say against it. A webhook that cannot be asked in a dry run is asked when it is made. */
async function tryToCreate(client: Client, resource: Resource, object: KubeObject): Promise<void> {
  const { namespace } = object.metadata;
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(object) };
  try {
    await (await client.request(`${pathOf(resource, { namespace })}?dryRun=All`, init)).body?.cancel();
  } catch (error) {
    if (!(isApiError(error, 'BadRequest') && /dry ?run/i.test(error.message))) throw error;
  }
}

/** Whether the machine was made is not known: neither its answer came, nor that to the question after it. */
class UnknownEnd extends Error {
  toApiError(claims: readonly PersistentVolumeClaim[]): ApiError {
    const names = claims.map(({ metadata }) => metadata.name).join(', ');
    const what = `It is not known whether the machine was made: ${messageOf(this.cause)}. Its PVCs stay: ${names}`;
    return new ApiError('ServiceUnavailable', `${what}; look whether it is there, and delete them if it is not`, { cause: this.cause });
  }
}

/** An answer may get lost when the machine is made already: it is ours, since its name was free and it has our claims. */
async function createOrFind(client: Client, vm: VirtualMachine): Promise<VirtualMachine> {
  try {
    return await client.create(VMS, vm);
  } catch (error) {
    if (error instanceof ApiError && error.code < 500) throw error;
    const found = await client.get(VMS, vm.metadata).catch(() => 'unknown' as const);
    if (found === 'unknown') throw new UnknownEnd('no answer', { cause: error });
    if (found && claimNamesOf(vm).every((name) => claimNamesOf(found).includes(name))) return found;
    throw error;
  }
}

/** The failure that it began with, also when its claims cannot be deleted: then with their names. */
async function cleanedUp(client: Client, made: readonly PersistentVolumeClaim[], error: unknown): Promise<unknown> {
  const left: string[] = [];
  for (const { metadata } of made)
    await client
      .delete(PERSISTENT_VOLUME_CLAIMS, metadata, { uid: metadata.uid })
      .catch((failure: unknown) => left.push(`${metadata.name} (${messageOf(failure)})`));
  if (left.length === 0) return error;
  const message = `${messageOf(error)}. These PVCs could not be deleted again: ${left.join(', ')}`;
  const { reason, details, code } = error instanceof ApiError ? error : new ApiError('InternalError', message);
  return new ApiError(reason, message, { cause: error, code, ...(details && { details }) });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
