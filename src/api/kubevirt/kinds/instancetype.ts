/** VirtualMachineInstancetype: how big machines are, for a namespace. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { READ_BY_COMPONENTS, SIZE_COLUMNS } from '../instancetype/record-parts.ts';
import { USUAL_ROLES } from '../usual-roles.ts';
import type { specSchema } from './instancetype-schema.ts';

export type VirtualMachineInstancetype = KubeObject & {
  readonly kind: 'VirtualMachineInstancetype';
  readonly spec: Static<typeof specSchema>;
};

export const INSTANCETYPES = kind<VirtualMachineInstancetype>({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineInstancetype',
  plural: 'virtualmachineinstancetypes',
  shortNames: ['vminstancetype', 'vminstancetypes', 'vmf', 'vmfs'],
  description: 'How big machines of this type are.',
  versions: ['v1beta1'],
  columns: [...SIZE_COLUMNS, AGE],
  roles: USUAL_ROLES,
  access: READ_BY_COMPONENTS,
});
