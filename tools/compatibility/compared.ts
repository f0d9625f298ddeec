/** Our specs beside the published ones: what the table of refused fields, the CRDs and docs/compatibility.md have in common. */
import { PUBLISHED_TYPES } from '../../src/api/kubevirt/generated/published-types.ts';
import { kubeVirtSpecSchema, kubeVirtStatusSchema } from '../../src/api/kubevirt/kinds/kubevirt-schema.ts';
import { vmiStatusSchema } from '../../src/api/kubevirt/kinds/virtual-machine-instance-schema.ts';
import { vmSpecSchema, vmStatusSchema } from '../../src/api/kubevirt/kinds/virtual-machine-schema.ts';
import { vmiSpecSchema } from '../../src/api/kubevirt/vmi-spec-schema.ts';
import { type ComparedField, compareFields } from '../../src/api/schema/published.ts';
import { structural } from '../../src/api/schema/structural.ts';

const SPECS = { VirtualMachineSpec: vmSpecSchema, VirtualMachineInstanceSpec: vmiSpecSchema, KubeVirtSpec: kubeVirtSpecSchema };
const STATUSES = {
  VirtualMachineStatus: vmStatusSchema,
  VirtualMachineInstanceStatus: vmiStatusSchema,
  KubeVirtStatus: kubeVirtStatusSchema,
};

export type SpecName = keyof typeof SPECS;
export type StatusName = keyof typeof STATUSES;
export const SPEC_NAMES = Object.keys(SPECS) as readonly SpecName[];

/** Fields of a spec, published or ours. What is inside a template is left to the spec of the instance. */
export function specFields(name: SpecName): readonly ComparedField[] {
  return compareFields(structural(SPECS[name]), name, PUBLISHED_TYPES).filter(({ path }) => !path.startsWith('template.'));
}

/** Fields of a status, published or ours. */
export function statusFields(name: StatusName): readonly ComparedField[] {
  return compareFields(structural(STATUSES[name]), name, PUBLISHED_TYPES);
}
