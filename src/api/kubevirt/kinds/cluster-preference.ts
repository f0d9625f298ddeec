/** VirtualMachineClusterPreference: how a system likes its machine, for all namespaces. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE } from '../columns.ts';
import { FOR_EVERYBODY, READ_BY_COMPONENTS } from '../instancetype/record-parts.ts';
import type { specSchema } from './cluster-preference-schema.ts';

export type VirtualMachineClusterPreference = KubeObject & {
  readonly kind: 'VirtualMachineClusterPreference';
  readonly spec: Static<typeof specSchema>;
};

export const CLUSTER_PREFERENCES = kind<VirtualMachineClusterPreference>({
  group: 'instancetype.kubevirt.io',
  kind: 'VirtualMachineClusterPreference',
  plural: 'virtualmachineclusterpreferences',
  shortNames: ['vmcp', 'vmcps'],
  isNamespaced: false,
  specType: 'VirtualMachinePreferenceSpec',
  categories: [],
  description: 'What machines are given where they say nothing themselves, in every namespace.',
  versions: ['v1beta1'],
  columns: [AGE],
  roles: FOR_EVERYBODY,
  access: READ_BY_COMPONENTS,
});
