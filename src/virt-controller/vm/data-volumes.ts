/** The DataVolumes of a machine: those it has templates for, and those it names. Pure. */
import { DATA_VOLUMES, type DataVolume, hasFailed, isUsable } from '../../api/kubevirt/kinds/data-volume.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_BIND_IMMEDIATELY, ANNOTATION_IMMEDIATE_DATA_VOLUMES, LABEL_CREATED_BY } from '../../api/kubevirt/names.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { apiVersionOf } from '../../api/resource.ts';
import { isSetToStart } from './intent.ts';
import type { ObservedVm } from './observed.ts';

type Template = NonNullable<VirtualMachine['spec']['dataVolumeTemplates']>[number];
type Seen = Pick<ObservedVm, 'vm' | 'vmi' | 'dataVolumes'>;

/** The names of all of them, each once. */
export function dataVolumeNamesOf({ spec }: VirtualMachine): string[] {
  const named = (spec.template.spec.volumes ?? []).flatMap(({ dataVolume }) => dataVolume?.name ?? []);
  return [...new Set([...(spec.dataVolumeTemplates ?? []).map(({ metadata }) => metadata.name), ...named])];
}

/** Those that are to be made now: at once, or with the first start where the machine says so. */
export function missingDataVolumes({ vm, vmi, dataVolumes }: Seen): DataVolume[] {
  const isLater = vm.metadata.annotations?.[ANNOTATION_IMMEDIATE_DATA_VOLUMES] === 'false' && !isSetToStart({ vm, vmi });
  const templates = isLater ? [] : (vm.spec.dataVolumeTemplates ?? []);
  return templates.filter(({ metadata }) => !dataVolumes?.has(metadata.name)).map((template) => dataVolumeFor(vm, template));
}

/** One of its own that is not filled yet: the machine is not started before. */
export function unfilledDataVolume({ vm, dataVolumes }: Seen): string | undefined {
  const names = (vm.spec.dataVolumeTemplates ?? []).map(({ metadata }) => metadata.name);
  return names.find((name) => {
    const found = dataVolumes?.get(name);
    return !found || !isUsable(found);
  });
}

/** One that cannot be filled as it is. */
export function failedDataVolume({ dataVolumes }: Seen): DataVolume | undefined {
  return [...(dataVolumes?.values() ?? [])].find(hasFailed);
}

/** One that is being filled. */
export function isProvisioning({ dataVolumes }: Seen): boolean {
  return [...(dataVolumes?.values() ?? [])].some((each) => !isUsable(each));
}

function dataVolumeFor(vm: VirtualMachine, { metadata, spec }: Template): DataVolume {
  const { name, labels, annotations } = metadata;
  return {
    apiVersion: apiVersionOf(DATA_VOLUMES),
    kind: 'DataVolume',
    metadata: {
      name,
      namespace: vm.metadata.namespace,
      labels: { ...labels, [LABEL_CREATED_BY]: vm.metadata.uid ?? '' },
      // A CDI would wait for a Pod of the machine, which is not made before its disk is filled.
      annotations: { ...annotations, [ANNOTATION_BIND_IMMEDIATELY]: 'true' },
      ownerReferences: [controllerReferenceTo(vm)],
    },
    spec,
  };
}
