/** Asks for the claims that an instance uses: a copy of every claim of the cluster would cost more. */
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import type { Client } from '../../client/client.ts';
import { type Claims, claimNamesOf } from './claims.ts';

/** Undefined for an instance that uses none. */
export async function claimsOf(client: Client, { metadata: { namespace }, spec }: VirtualMachineInstance): Promise<Claims | undefined> {
  const found = claimNamesOf(spec).map(async (name) => [name, await client.get(PERSISTENT_VOLUME_CLAIMS, { namespace, name })] as const);
  return found.length === 0 ? undefined : new Map(await Promise.all(found));
}
