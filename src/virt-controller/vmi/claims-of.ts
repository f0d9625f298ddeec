/** Asks for the claims that an instance uses, and whether they are filled: a copy of every claim of the cluster would cost more. */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
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

/** A claim that a DataVolume is to fill and has not yet, by whichever name the instance uses it; asked of the server, for a half of a disk must not be started. */
export async function unfilledClaimOf(client: Client, claims: Claims | undefined): Promise<string | undefined> {
  for (const [name, claim] of claims ?? []) {
    if (claim && isUploadClaim(claim) && !isFilled(claim)) return name;
    const owner = claim && controllerOf(claim);
    if (owner?.kind !== DATA_VOLUMES.kind || claim?.metadata.annotations?.[CDI_ANNOTATIONS.podPhase] === 'Succeeded') continue;
    const { namespace } = claim?.metadata ?? {};
    const dataVolume = await client.get(DATA_VOLUMES, { ...(namespace !== undefined && { namespace }), name: owner.name });
    if (!dataVolume || dataVolume.metadata.uid !== owner.uid || !isUsable(dataVolume)) return name;
  }
  return undefined;
}
