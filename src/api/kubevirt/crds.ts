/** The CustomResourceDefinitions of the product. `npm run generate` writes them to deploy/crds. */
import { type CustomResourceDefinition, crdFor, type PrinterColumn } from '../schema/crd.ts';
import type { Published, PublishedTypes } from '../schema/published.ts';
import { PUBLISHED_TYPES } from './generated/published-types.ts';
import { KUBEVIRTS } from './kinds/kubevirt.ts';
import { kubeVirtSpecSchema, kubeVirtStatusSchema } from './kinds/kubevirt-schema.ts';
import { OFFLINE_VMS } from './kinds/offline-virtual-machine.ts';
import { offlineVmSpecSchema, offlineVmStatusSchema } from './kinds/offline-virtual-machine-schema.ts';
import { VMIRSS } from './kinds/replica-set.ts';
import { replicaSetSpecSchema, replicaSetStatusSchema } from './kinds/replica-set-schema.ts';
import { VMS } from './kinds/virtual-machine.ts';
import { VMIS } from './kinds/virtual-machine-instance.ts';
import { vmiStatusSchema } from './kinds/virtual-machine-instance-schema.ts';
import { vmSpecSchema, vmStatusSchema } from './kinds/virtual-machine-schema.ts';
import { VMI_CONFIGS } from './kinds/vmi-config.ts';
import { vmiConfigSpecSchema } from './kinds/vmi-config-schema.ts';
import { whyRefused } from './refused-reasons-table.ts';
import { vmiSpecSchema } from './vmi-spec-schema.ts';

/** The published types, and where in the kinds that KubeVirt has no more they are found. */
const TYPES: PublishedTypes = {
  ...PUBLISHED_TYPES,
  OfflineVirtualMachineSpec: { template: 'VirtualMachineInstanceTemplateSpec' },
  VirtualMachineInstanceConfigSpec: { template: 'VirtualMachineInstanceTemplateSpec' },
};

const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** The columns of the published example, in its order, and whether the machine is ready. */
const VM_COLUMNS: readonly PrinterColumn[] = [
  AGE,
  { name: 'Status', type: 'string', jsonPath: '.status.printableStatus', description: 'One word for what the machine does' },
  { name: 'Volume', type: 'string', jsonPath: '.spec.template.spec.volumes[0].name', description: 'The first volume of the machine' },
  { name: 'Ready', type: 'string', jsonPath: condition('Ready') },
];

const VMI_COLUMNS: readonly PrinterColumn[] = [
  AGE,
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
  { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
  { name: 'Ready', type: 'string', jsonPath: condition('Ready') },
  { name: 'Live-Migratable', type: 'string', jsonPath: condition('LiveMigratable'), priority: 1 },
  { name: 'Paused', type: 'string', jsonPath: condition('Paused'), priority: 1 },
];

const REPLICA_SET_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas', description: 'How many instances there are to be' },
  { name: 'Current', type: 'integer', jsonPath: '.status.replicas', description: 'How many there are' },
  { name: 'Ready', type: 'integer', jsonPath: '.status.readyReplicas', description: 'How many of them are ready' },
  AGE,
];

export const CRDS: readonly CustomResourceDefinition[] = [
  crdFor({
    resource: VMS,
    shortNames: ['vm', 'vms'],
    description: 'A machine that can be stopped and started and stays the same machine.',
    versions: ['v1', 'v1alpha3', 'v1alpha2'],
    spec: vmSpecSchema,
    published: publishedAs('VirtualMachineSpec'),
    status: vmStatusSchema,
    columns: VM_COLUMNS,
    subresources: { status: {} },
  }),
  crdFor({
    resource: VMIS,
    shortNames: ['vmi', 'vmis'],
    description: 'One run of a guest, from its start to its end.',
    versions: ['v1', 'v1alpha3', 'v1alpha2'],
    spec: vmiSpecSchema,
    published: publishedAs('VirtualMachineInstanceSpec'),
    status: vmiStatusSchema,
    columns: VMI_COLUMNS,
    // No status subresource, as published: clients write spec and status of an instance together.
  }),
  crdFor({
    resource: VMIRSS,
    shortNames: ['vmirs', 'vmirss'],
    description: 'A number of equal instances that is kept at that number.',
    versions: ['v1', 'v1alpha3'],
    spec: replicaSetSpecSchema,
    published: publishedAs('VirtualMachineInstanceReplicaSetSpec'),
    status: replicaSetStatusSchema,
    columns: REPLICA_SET_COLUMNS,
    subresources: {
      status: {},
      scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas', labelSelectorPath: '.status.labelSelector' },
    },
  }),
  crdFor({
    resource: OFFLINE_VMS,
    shortNames: ['ovm', 'ovms'],
    description: 'The ancestor of VirtualMachine: while it is to run there is a VirtualMachine of its name.',
    versions: ['v1alpha1'],
    spec: offlineVmSpecSchema,
    published: publishedAs('OfflineVirtualMachineSpec'),
    status: offlineVmStatusSchema,
    columns: [
      AGE,
      { name: 'Running', type: 'boolean', jsonPath: '.spec.running', description: 'Whether the machine is to run' },
      { name: 'Created', type: 'boolean', jsonPath: '.status.created', description: 'Whether its VirtualMachine is there' },
      { name: 'Ready', type: 'boolean', jsonPath: '.status.ready', description: 'Whether its VirtualMachine is ready' },
    ],
    subresources: { status: {} },
  }),
  crdFor({
    resource: VMI_CONFIGS,
    shortNames: ['vmic', 'vmics'],
    description: 'A configuration from which instances are started and stopped.',
    versions: ['v1alpha2'],
    spec: vmiConfigSpecSchema,
    published: publishedAs('VirtualMachineInstanceConfigSpec'),
    columns: [AGE],
  }),
  crdFor({
    resource: KUBEVIRTS,
    shortNames: ['kv', 'kvs'],
    description: 'The configuration of an installation.',
    versions: ['v1'],
    spec: kubeVirtSpecSchema,
    published: publishedAs('KubeVirtSpec'),
    status: kubeVirtStatusSchema,
    columns: [AGE, { name: 'Phase', type: 'string', jsonPath: '.status.phase' }],
    subresources: { status: {} },
    label: 'operator.kubevirt.io',
  }),
];

function condition(type: string): string {
  return `.status.conditions[?(@.type=='${type}')].status`;
}

function publishedAs(type: string): Published {
  return { types: TYPES, type, describe: (path) => `Refused when set: ${whyRefused(type, path) ?? 'not supported yet'}.` };
}
