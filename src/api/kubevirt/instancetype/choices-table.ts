/** The two things that a VM may name beside its template, and where each is found and told. */
import type { KindRecord } from '../../kind.ts';
import { CLUSTER_INSTANCETYPES, type VirtualMachineClusterInstancetype } from '../kinds/cluster-instancetype.ts';
import { CLUSTER_PREFERENCES, type VirtualMachineClusterPreference } from '../kinds/cluster-preference.ts';
import { INSTANCETYPES, type VirtualMachineInstancetype } from '../kinds/instancetype.ts';
import { PREFERENCES, type VirtualMachinePreference } from '../kinds/preference.ts';
import type { VirtualMachine } from '../kinds/virtual-machine.ts';

export type Instancetype = VirtualMachineInstancetype | VirtualMachineClusterInstancetype;
export type Preference = VirtualMachinePreference | VirtualMachineClusterPreference;
export type Matcher = NonNullable<VirtualMachine['spec']['instancetype']>;
export type ChoiceName = 'instancetype' | 'preference';

type Choice = {
  /** In sentences. */
  readonly word: string;
  /** The kind for all namespaces, which is meant when none is named, and the one for a single namespace. */
  readonly kinds: readonly [cluster: KindRecord, namespaced: KindRecord];
  /** Where the status of a VM tells what was taken. */
  readonly ref: 'instancetypeRef' | 'preferenceRef';
  /** Annotations of instances that tell its name, in the order of the kinds. */
  readonly annotations: readonly [cluster: string, namespaced: string];
  /** Labels of a claim that tell which one goes with it: its name, and its kind. */
  readonly labels: readonly [name: string, kind: string];
  /** Of the condition Failure while it is not there. */
  readonly missingReason: 'FailedFindInstancetype' | 'FailedFindPreference';
};

export const CHOICES: Readonly<Record<ChoiceName, Choice>> = {
  instancetype: {
    word: 'instance type',
    kinds: [CLUSTER_INSTANCETYPES, INSTANCETYPES],
    ref: 'instancetypeRef',
    annotations: ['kubevirt.io/cluster-instancetype-name', 'kubevirt.io/instancetype-name'],
    labels: ['instancetype.kubevirt.io/default-instancetype', 'instancetype.kubevirt.io/default-instancetype-kind'],
    missingReason: 'FailedFindInstancetype',
  },
  preference: {
    word: 'preference',
    kinds: [CLUSTER_PREFERENCES, PREFERENCES],
    ref: 'preferenceRef',
    annotations: ['kubevirt.io/cluster-preference-name', 'kubevirt.io/preference-name'],
    labels: ['instancetype.kubevirt.io/default-preference', 'instancetype.kubevirt.io/default-preference-kind'],
    missingReason: 'FailedFindPreference',
  },
};
export const CHOICE_NAMES: readonly ChoiceName[] = ['instancetype', 'preference'];

/** The kind that a matcher means, however it is spelled: kubectl's words for it are taken, too. Undefined for none of the two. */
export function kindMeant(choice: ChoiceName, said: string | undefined): KindRecord | undefined {
  const { kinds } = CHOICES[choice];
  if (!said) return kinds[0];
  const word = said.toLowerCase();
  return kinds.find(({ kind, plural }) => word === kind.toLowerCase() || word === plural);
}
