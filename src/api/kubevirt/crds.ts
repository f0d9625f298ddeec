/** The CustomResourceDefinitions of the product. `npm run generate` writes them to deploy/crds. */
import { type CustomResourceDefinition, crdFor, type PrinterColumn } from '../schema/crd.ts';
import { GROUP } from './names.ts';
import { VMS, vmSpecSchema, vmStatusSchema } from './virtual-machine.ts';
import { VMIS, vmiStatusSchema } from './virtual-machine-instance.ts';
import { vmiSpecSchema } from './vmi-spec-schema.ts';

const VERSIONS = ['v1', 'v1alpha3', 'v1alpha2'];

/** The columns of the published example, in its order, and whether the machine is ready. */
const VM_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Status', type: 'string', jsonPath: '.status.printableStatus', description: 'One word for what the machine does' },
  { name: 'Volume', type: 'string', jsonPath: '.spec.template.spec.volumes[0].name', description: 'The first volume of the machine' },
  { name: 'Ready', type: 'string', jsonPath: condition('Ready') },
];

const VMI_COLUMNS: readonly PrinterColumn[] = [
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
  { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
  { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
  { name: 'Ready', type: 'string', jsonPath: condition('Ready') },
  { name: 'Live-Migratable', type: 'string', jsonPath: condition('LiveMigratable'), priority: 1 },
  { name: 'Paused', type: 'string', jsonPath: condition('Paused'), priority: 1 },
];

export const CRDS: readonly CustomResourceDefinition[] = [
  crdFor({
    group: GROUP,
    kind: VMS.kind,
    plural: VMS.plural,
    shortNames: ['vm', 'vms'],
    description: 'A machine that can be stopped and started and stays the same machine.',
    versions: VERSIONS,
    spec: vmSpecSchema,
    status: vmStatusSchema,
    columns: VM_COLUMNS,
    hasStatusSubresource: true,
  }),
  crdFor({
    group: GROUP,
    kind: VMIS.kind,
    plural: VMIS.plural,
    shortNames: ['vmi', 'vmis'],
    description: 'One run of a guest, from its start to its end.',
    versions: VERSIONS,
    spec: vmiSpecSchema,
    status: vmiStatusSchema,
    columns: VMI_COLUMNS,
    hasStatusSubresource: false, // as published: clients write spec and status of an instance together
  }),
];

function condition(type: string): string {
  return `.status.conditions[?(@.type=='${type}')].status`;
}
