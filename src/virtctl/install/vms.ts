/** The machines of a cluster, of every kind, whoever made them; not what came with the installation. */
import { MACHINE_KINDS } from '../../api/kubevirt/installed-kinds-table.ts';
import { LABEL_MANAGED_BY, MANAGED_BY_OPERATOR } from '../../api/kubevirt/names.ts';
import type { KubeObject } from '../../api/meta.ts';
import { isApiError } from '../../base/errors.ts';
import type { Client } from '../../client/client.ts';

export async function allVms(client: Client): Promise<KubeObject[]> {
  const lists = await Promise.all(
    MACHINE_KINDS.map(async (resource) => {
      try {
        return (await client.list(resource)).items;
      } catch (error) {
        if (isApiError(error, 'NotFound')) return []; // the kind is not known, so there are none
        throw error;
      }
    }),
  );
  return lists.flat().filter((object) => !cameWithTheInstallation(object));
}

/** Of what has a namespace, its author wrote the labels. */
function cameWithTheInstallation({ metadata }: KubeObject): boolean {
  return metadata.namespace === undefined && metadata.labels?.[LABEL_MANAGED_BY] === MANAGED_BY_OPERATOR;
}
