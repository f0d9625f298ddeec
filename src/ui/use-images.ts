/** Images that a machine can be made of, as far as the page can know them. */
import { useEffect, useState } from 'preact/hooks';
import { PERSISTENT_VOLUME_CLAIMS } from '../api/core/volume.ts';
import { ANNOTATION_DISK_IMAGE } from '../api/kubevirt/names.ts';
import type { Client } from '../client/client.ts';
import { deriveImages } from './derive-disk-images.ts';
import { deriveMachines } from './derive-machines.ts';
import { useSession } from './hooks.ts';
import { useFollowed } from './use-followed.ts';

/** Every embedded cluster has it, and no other. */
const DEMO_GUEST = 'localhost/guests/tiny';

/** Undefined until they are known. */
export function useImages(): readonly string[] | undefined {
  const { client, vms, vmis, namespace } = useSession();
  const [known, setKnown] = useState<readonly string[]>();
  const claims = useFollowed(PERSISTENT_VOLUME_CLAIMS, namespace);
  useEffect(() => {
    let isWanted = true;
    isEmbedded(client).then(
      (is) => isWanted && setKnown(is ? [DEMO_GUEST] : []),
      () => isWanted && setKnown([]),
    );
    return () => {
      isWanted = false;
    };
  }, [client]);
  if (!known) return undefined;
  const used = deriveMachines(vms.list(), vmis.list()).map(({ image }) => image);
  const begun = (claims ?? []).map(({ metadata }) => metadata.annotations?.[ANNOTATION_DISK_IMAGE]);
  return deriveImages([...used, ...begun], known);
}

async function isEmbedded(client: Client): Promise<boolean> {
  const { gitCommit } = (await (await client.request('/version')).json()) as { gitCommit?: string };
  return gitCommit === 'kubevirt-ts';
}
