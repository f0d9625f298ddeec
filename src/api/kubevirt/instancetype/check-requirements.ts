/** Whether a machine has what a preference asks for at least. Pure. */
import { formatBytes, parseQuantity } from '../../../base/quantity.ts';
import { guestMemoryBytesOf, vcpusOf } from '../vmi-size.ts';
import type { VmiSpec } from '../vmi-spec-schema.ts';
import type { InstancetypeSpec } from './instancetype-schema.ts';
import type { PreferenceSpec } from './preference-schema.ts';

export type Shortage = { readonly field: string; readonly why: string };

/** Every requirement that the machine does not meet; the words are KubeVirt's. */
export function shortagesOf(preference: PreferenceSpec, spec: VmiSpec, instancetype: InstancetypeSpec | undefined): Shortage[] {
  const { cpu, memory, architecture } = preference.requirements ?? {};
  const by = instancetype ? 'instance type' : 'VirtualMachine';
  const at = (path: string) => (instancetype ? 'spec.instancetype' : `spec.template.spec.${path}`);
  const shortages: Shortage[] = [];
  const vcpus = instancetype?.cpu.guest ?? vcpusOf(spec);
  if (cpu && vcpus < cpu.guest)
    shortages.push({
      field: at('domain.cpu'),
      why: `insufficient CPU resources of ${vcpus} vCPU provided by ${by}, preference requires ${cpu.guest} vCPU`,
    });
  const bytes = instancetype ? (parseQuantity(instancetype.memory.guest) ?? 0) : (guestMemoryBytesOf(spec) ?? 0);
  const needed = memory ? (parseQuantity(memory.guest) ?? 0) : 0;
  if (bytes < needed)
    shortages.push({
      field: at('domain.memory'),
      why: `insufficient Memory resources of ${formatBytes(bytes)} provided by ${by}, preference requires ${formatBytes(needed)}`,
    });
  const own = spec.architecture || preference.preferredArchitecture || 'amd64';
  if (architecture && architecture !== own)
    shortages.push({
      field: 'spec.template.spec.architecture',
      why: `preference requires architecture ${architecture} but ${own} is being requested`,
    });
  return shortages;
}
