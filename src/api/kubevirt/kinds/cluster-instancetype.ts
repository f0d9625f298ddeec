/** VirtualMachineClusterInstancetype: how big machines are, for all namespaces. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { FOR_EVERYBODY, READ_BY_COMPONENTS, SIZE_COLUMNS } from '../instancetype/record-parts.ts';
import type { specSchema } from './cluster-instancetype-schema.ts';

export type VirtualMachineClusterInstancetype = KubeObject & {
  readonly kind: 'VirtualMachineClusterInstancetype';
  readonly spec: Static<typeof specSchema>;
};

export const CLUSTER_INSTANCETYPES = kind<VirtualMachineClusterInstancetype>({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineClusterInstancetype',
  plural: 'virtualmachineclusterinstancetypes',
  shortNames: ['vmclusterinstancetype', 'vmclusterinstancetypes', 'vmcf', 'vmcfs'],
  isNamespaced: false,
  specType: 'VirtualMachineInstancetypeSpec',
  categories: [],
  description: 'How big machines of this type are, in every namespace.',
  versions: ['v1beta1'],
  columns: [...SIZE_COLUMNS, AGE],
  roles: FOR_EVERYBODY,
  access: READ_BY_COMPONENTS,
});
