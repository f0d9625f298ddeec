/** Makes the objects of a machine. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../../../base/errors.ts';
import type { Connection } from '../../deps.ts';
import type { Wanted } from './machine.ts';

/** The claim first, so that the machine finds it; then it belongs to the machine and goes with it. A machine that is refused leaves none. */
export async function makeMachine({ vm, claim }: Wanted, { client, namespace }: Connection): Promise<VirtualMachine> {
  const at = <T extends VirtualMachine | PersistentVolumeClaim>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  if (!claim) return client.create(VMS, at(vm));
  if (await client.get(VMS, { namespace, name: vm.metadata.name }))
    throw new ApiError('AlreadyExists', `virtualmachines.kubevirt.io "${vm.metadata.name}" already exists`); // rather than that its claim does
  const { metadata: claimMeta } = await client.create(PERSISTENT_VOLUME_CLAIMS, at(claim));
  const created = await client.create(VMS, at(vm)).catch(async (error: unknown) => {
    await client.delete(PERSISTENT_VOLUME_CLAIMS, claimMeta, { uid: claimMeta.uid });
    throw error;
  });
  const { name, uid } = created.metadata;
  const ownerReferences = [{ apiVersion: created.apiVersion, kind: created.kind, name, uid }];
  await client.patch(PERSISTENT_VOLUME_CLAIMS, claimMeta, { metadata: { ownerReferences } });
  return created;
}
