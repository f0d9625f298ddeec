/** In the dialogs that delete machines: the disks that are lost with them, and those that stay. */
import { useEffect, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../api/core/volume.ts';
import type { Client } from '../client/client.ts';
import { claimNamesOf } from '../sdk/disk-fates.ts';
import { deriveLostDisks } from './derive-lost-disks.ts';
import type { Machine } from './derive-machines.ts';
import { useSession } from './hooks.ts';

export function LostDisks({ machines }: { readonly machines: readonly Machine[] }) {
  const { client } = useSession();
  const [claims, setClaims] = useState<readonly PersistentVolumeClaim[] | 'unknown'>();
  useEffect(() => {
    let isWanted = true;
    claimsOf(client, machines).then(
      (found) => isWanted && setClaims(found),
      () => isWanted && setClaims('unknown'),
    );
    return () => {
      isWanted = false;
    };
  }, [client]); // as it was when the dialog was opened
  if (claims === undefined) return <p role="status">Looking which disks are lost…</p>;
  return deriveLostDisks(machines, claims).map((sentence) => <p key={sentence}>{sentence}</p>);
}

/** One question for each namespace that has such machines. */
async function claimsOf(client: Client, machines: readonly Machine[]): Promise<readonly PersistentVolumeClaim[]> {
  const withClaims = machines.filter(({ vm }) => vm && claimNamesOf(vm).length > 0);
  const namespaces = new Set(withClaims.map(({ namespace }) => namespace));
  const lists = await Promise.all([...namespaces].map((namespace) => client.list(PERSISTENT_VOLUME_CLAIMS, { namespace })));
  return lists.flatMap(({ items }) => items);
}
