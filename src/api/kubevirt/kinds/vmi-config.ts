/** VirtualMachineInstanceConfig: a configuration from which instances are started and stopped. Edits never reach running instances. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { OWNER_REFERENCES } from '../access-reasons.ts';
import { AGE } from '../columns.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema } from './vmi-config-schema.ts';

export type VirtualMachineInstanceConfig = KubeObject & {
  readonly kind: 'VirtualMachineInstanceConfig';
  readonly spec: Static<typeof specSchema>;
};

export const VMI_CONFIGS = kind<VirtualMachineInstanceConfig>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstanceConfig',
  plural: 'virtualmachineinstanceconfigs',
  shortNames: ['vmic', 'vmics'],
  description: 'A configuration from which instances are started and stopped.',
  versions: ['v1alpha2'],
  remark: "as designed in KubeVirt's early days, where it was never built; no status",
  columns: [AGE],
  roles: USUAL_ROLES,
  access: {
    'virt-api': [{ verbs: ['get'] }, { part: 'finalizers', verbs: ['update'], because: OWNER_REFERENCES }],
  },
  formerSpec: { template: 'VirtualMachineInstanceTemplateSpec' },
});
