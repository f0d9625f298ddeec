/** The kubelet's question before it starts virt-importer, which is a process of this machine: has virt-controller made this Pod for a DataVolume? */
import type { Pod } from '../../api/core/pod.ts';
import { importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import { controllerOf, isControlledBy } from '../../api/meta.ts';
import type { Client } from '../../client/client.ts';

/** Why the Pod is not the importer of a DataVolume that is there; undefined when it is. Nobody else may make Pods that are controlled by one. */
export async function whyNotImporter(client: Client, pod: Pod): Promise<string | undefined> {
  const owner = controllerOf(pod);
  const { namespace, name } = pod.metadata;
  const dataVolume = owner && (await client.get(DATA_VOLUMES, { ...(namespace !== undefined && { namespace }), name: owner.name }));
  if (dataVolume && isControlledBy(pod, dataVolume) && name === importerPodNameOf(dataVolume)) return undefined;
  return 'the image of virt-importer is only for Pods that virt-controller has made for a DataVolume';
}
