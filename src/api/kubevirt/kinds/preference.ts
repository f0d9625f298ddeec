/** VirtualMachinePreference: how a system likes its machine, for a namespace. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { READ_BY_COMPONENTS } from '../instancetype/record-parts.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema } from './preference-schema.ts';

export type VirtualMachinePreference = KubeObject & { readonly kind: 'VirtualMachinePreference'; readonly spec: Static<typeof specSchema> };

export const PREFERENCES = kind<VirtualMachinePreference>({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachinePreference',
  plural: 'virtualmachinepreferences',
  shortNames: ['vmpref', 'vmprefs', 'vmp', 'vmps'],
  description: 'What machines are given where they say nothing themselves.',
  versions: ['v1beta1'],
  columns: [AGE],
  roles: USUAL_ROLES,
  access: READ_BY_COMPONENTS,
});
