/** VirtualMachineInstancePreset: what instances with certain labels have in common. Deprecated by KubeVirt; instance types took its place. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import { REFUSED_OF_VMI } from './virtual-machine-instance-refused-table.ts';
import type { specSchema } from './vmi-preset-schema.ts';

/** On an instance: no preset is applied to it. */
export const ANNOTATION_EXCLUDE_PRESETS = 'virtualmachineinstancepresets.admission.kubevirt.io/exclude';
/** On an instance: presets, and the parts of them that it has values of its own for. */
export const ANNOTATION_OVERRIDDEN_PRESETS = 'virtualmachineinstancepresets.admission.kubevirt.io/overridden';
/** On an instance, with the name of a preset behind it: that one was applied. */
export const PREFIX_APPLIED_PRESET = 'virtualmachinepreset.kubevirt.io/';

const NOT_GIVEN = 'not given by presets; write it into the machine';

export type VirtualMachineInstancePreset = KubeObject & {
  readonly kind: 'VirtualMachineInstancePreset';
  readonly spec: Static<typeof specSchema>;
};

export const VMI_PRESETS = kind<VirtualMachineInstancePreset>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstancePreset',
  plural: 'virtualmachineinstancepresets',
  shortNames: ['vmipreset', 'vmipresets'],
  description: 'What instances with certain labels have in common.',
  versions: ['v1alpha3', 'v1'],
  remark: 'deprecated by KubeVirt; see [instance types](instance-types.md)',
  columns: [AGE],
  roles: USUAL_ROLES,
  access: { 'virt-api': [{ verbs: ['get', 'list', 'watch'], because: 'Instances are given what they say when they are made.' }] },
  refused: { ...REFUSED_OF_VMI, domain: NOT_GIVEN },
});
