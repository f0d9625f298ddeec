/** Asks for the claims that an instance uses, and whether they are filled: a copy of every claim of the cluster would cost more. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../api/core/volume.ts';
import { DATA_VOLUMES, isUsable } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { CDI_ANNOTATIONS } from '../../api/kubevirt/names.ts';
import { controllerOf } from '../../api/meta.ts';
import type { Client } from '../../client/client.ts';
import { isFilled, isUploadClaim } from '../upload-claim/decide.ts';
import { type Claims, claimNamesOf } from './claims.ts';

/** Undefined for an instance that uses none. */
export async function claimsOf(client: Client, { metadata: { namespace }, spec }: VirtualMachineInstance): Promise<Claims | undefined> {
  const found = claimNamesOf(spec).map(async (name) => [name, await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name })] as const);
  return found.length === 0 ? undefined : new Map(await Promise.all(found));
}

/** The claims that a DataVolume or an upload is to fill and has not yet, by whichever name they are used; asked of the server, for a half of a disk is given to no guest. */
export async function unfilledClaimsOf(client: Client, claims: Claims | undefined): Promise<ReadonlySet<string>> {
  const unfilled = [...(claims ?? [])].map(async ([name, claim]) => (claim && (await isUnfilled(client, claim)) ? [name] : []));
  return new Set((await Promise.all(unfilled)).flat());
}

async function isUnfilled(client: Client, claim: PersistentVolumeClaim): Promise<boolean> {
  if (isUploadClaim(claim) && !isFilled(claim)) return true;
  const owner = controllerOf(claim);
  if (owner?.kind !== DATA_VOLUMES.kind || claim.metadata.annotations?.[CDI_ANNOTATIONS.podPhase] === 'Succeeded') return false;
  const { namespace } = claim.metadata;
  const dataVolume = await client.get(DATA_VOLUMES, { ...(namespace !== undefined && { namespace }), name: owner.name });
  return !dataVolume || dataVolume.metadata.uid !== owner.uid || !isUsable(dataVolume);
}
