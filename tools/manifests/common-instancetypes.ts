/**
 * deploy/common-instancetypes.yaml: sizes and preferences that every installation has, by the names that people know from KubeVirt's own
 * collection. Small on purpose: what no engine of ours honours (dedicated processors, EFI, TPM, devices of the node) is not in it.
 */
import { CLUSTER_INSTANCETYPES, type VirtualMachineClusterInstancetype } from '../../src/api/kubevirt/kinds/cluster-instancetype.ts';
import { CLUSTER_PREFERENCES, type VirtualMachineClusterPreference } from '../../src/api/kubevirt/kinds/cluster-preference.ts';
import { LABEL_NAME, NAME_COMMON_INSTANCETYPES } from '../../src/api/kubevirt/names.ts';
import { apiVersionOf } from '../../src/api/resource.ts';

const PREFIX = 'instancetype.kubevirt.io';
const apiVersion = apiVersionOf(CLUSTER_INSTANCETYPES);
const LABELS = { [LABEL_NAME]: NAME_COMMON_INSTANCETYPES, 'app.kubernetes.io/component': 'kubevirt' };

/** The series u1: processors that are shared, and four times as much memory from `large` on. */
const SIZES: readonly (readonly [size: string, cpus: number, memory: string])[] = [
  ['nano', 1, '512Mi'],
  ['micro', 1, '1Gi'],
  ['small', 1, '2Gi'],
  ['medium', 1, '4Gi'],
  ['2xmedium', 2, '4Gi'],
  ['large', 2, '8Gi'],
  ['xlarge', 4, '16Gi'],
  ['2xlarge', 8, '32Gi'],
];

/** The memory is what the makers of each system ask for at least, without a desktop. */
const SYSTEMS: readonly (readonly [name: string, title: string, memory: string | undefined])[] = [
  ['linux', 'Linux', undefined],
  ['alpine', 'Alpine Linux', '128Mi'],
  ['cirros', 'CirrOS', '64Mi'],
  ['debian', 'Debian', '512Mi'],
  ['fedora', 'Fedora', '1Gi'],
  ['ubuntu', 'Ubuntu', '1Gi'],
];

export function commonInstancetypes(): readonly (VirtualMachineClusterInstancetype | VirtualMachineClusterPreference)[] {
  return [...SIZES.map(instancetype), ...SYSTEMS.map(preference)];
}

function instancetype([size, cpus, memory]: (typeof SIZES)[number]): VirtualMachineClusterInstancetype {
  const processors = cpus === 1 ? '1 processor' : `${cpus} processors`;
  return {
    apiVersion,
    kind: CLUSTER_INSTANCETYPES.kind,
    metadata: {
      name: `u1.${size}`,
      labels: {
        ...LABELS,
        [`${PREFIX}/class`]: 'general.purpose',
        [`${PREFIX}/size`]: size,
        [`${PREFIX}/cpu`]: String(cpus),
        [`${PREFIX}/memory`]: memory,
        [`${PREFIX}/vendor`]: 'kubevirt.io',
        [`${PREFIX}/version`]: '1',
      },
      annotations: {
        [`${PREFIX}/displayName`]: 'General Purpose',
        [`${PREFIX}/description`]: `${processors}, ${memory} of memory; the processors are shared with other machines.`,
      },
    },
    spec: { cpu: { guest: cpus }, memory: { guest: memory } },
  };
}

function preference([name, title, memory]: (typeof SYSTEMS)[number]): VirtualMachineClusterPreference {
  const vendor: Record<string, string> = name === 'linux' ? {} : { [`${PREFIX}/vendor`]: name };
  return {
    apiVersion,
    kind: CLUSTER_PREFERENCES.kind,
    metadata: {
      name,
      labels: { ...LABELS, [`${PREFIX}/os-type`]: 'linux', ...vendor },
      annotations: {
        [`${PREFIX}/displayName`]: title,
        [`${PREFIX}/description`]: `For machines that run ${title}: disks and network cards on virtio, and a source of randomness.`,
      },
    },
    spec: {
      devices: { preferredDiskBus: 'virtio', preferredInterfaceModel: 'virtio', preferredRng: {} },
      ...(memory && { requirements: { cpu: { guest: 1 }, memory: { guest: memory } } }),
    },
  };
}
