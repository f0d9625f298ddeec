/** The kubelet's question before it starts virt-importer, which is a process of this machine: has virt-controller made this Pod to fill or to serve a PVC? */
import type { Pod } from '../../api/core/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../api/core/volume.ts';
import { EXPORT_VARIABLE, exportObjectName } from '../../api/exporter/exporter.ts';
import { IMPORT_VARIABLE, importerPodNameOf } from '../../api/importer/importer-pod.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import { VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import { controllerOf, isControlledBy, type KubeObject } from '../../api/meta.ts';
import type { Resource } from '../../api/resource.ts';
import type { Client } from '../../client/client.ts';

/** Why the Pod is not the importer of a DataVolume or a PVC or the exporter of an export that is there; undefined when it is. No policy lets anybody but virt-controller set the variables. */
export async function whyNotImporter(client: Client, pod: Pod): Promise<string | undefined> {
  const refused = 'the image of virt-importer is only for Pods that virt-controller has made to fill or to serve a PVC';
  const { containers, initContainers = [] } = pod.spec;
  const isOurs =
    initContainers.length === 0 &&
    containers.every(({ env = [] }) => env.some(({ name }) => name === IMPORT_VARIABLE || name === EXPORT_VARIABLE));
  const reference = controllerOf(pod);
  if (!isOurs || !reference) return refused;
  const { namespace, name } = pod.metadata;
  const resource = ([DATA_VOLUMES, PERSISTENT_VOLUME_CLAIMS, VM_EXPORTS] as readonly Resource<KubeObject>[]).find(
    ({ kind }) => kind === reference.kind,
  ); // their kinds do not matter here
  const owner = resource && (await client.get(resource, { ...(namespace !== undefined && { namespace }), name: reference.name }));
  return owner && isControlledBy(pod, owner) && name === podNameFor(owner) ? undefined : refused;
}

function podNameFor(owner: KubeObject): string {
  return owner.kind === VM_EXPORTS.kind ? exportObjectName(owner.metadata.name) : importerPodNameOf(owner);
}
