/** Which access modes a new disk of a machine asks for: with those that all nodes have, the machine can be moved. */
import { LOCAL_PROVISIONER, type PersistentVolumeClaim, STORAGE_CLASSES } from '../api/core/volume.ts';
import { isApiError } from '../base/errors.ts';
import type { Client } from '../client/client.ts';

const DEFAULT_CLASS = 'storageclass.kubernetes.io/is-default-class';

/** The claim for all nodes where the default class is that of an embedded cluster, whose nodes see all volumes; as it is elsewhere, and for whoever may not ask. */
export async function sharedWhereItCanBe(client: Pick<Client, 'list'>, claim: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
  const { items } = await client.list(STORAGE_CLASSES).catch((error: unknown) => {
    if (isApiError(error, 'Forbidden') || isApiError(error, 'NotFound')) return { items: [] };
    throw error;
  });
  const byDefault = items.find(({ metadata }) => metadata.annotations?.[DEFAULT_CLASS] === 'true');
  if (byDefault?.provisioner !== LOCAL_PROVISIONER) return claim;
  return { ...claim, spec: { ...claim.spec, accessModes: ['ReadWriteMany'] } };
}
