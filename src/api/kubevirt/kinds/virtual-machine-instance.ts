/** VirtualMachineInstance: one run of a guest. */
import { kind } from '../../kind.ts';
import type { KubeObject } from '../../meta.ts';
import type { Static } from '../../schema/dsl.ts';
import { AGE, conditionPath } from '../columns.ts';
import type { vmiSpecSchema } from '../vmi-spec-schema.ts';
import { REFUSED_OF_VMI } from './virtual-machine-instance-refused-table.ts';
import type { vmiStatusSchema } from './virtual-machine-instance-schema.ts';

export type VmiStatus = Static<typeof vmiStatusSchema>;
export type VmiPhase = NonNullable<VmiStatus['phase']>;
export type VirtualMachineInstance = KubeObject & {
  readonly kind: 'VirtualMachineInstance';
  readonly spec: Static<typeof vmiSpecSchema>;
  readonly status?: VmiStatus;
};

export const VMIS = kind<VirtualMachineInstance>({
  group: 'kubevirt.io',
  kind: 'VirtualMachineInstance',
  plural: 'virtualmachineinstances',
  shortNames: ['vmi', 'vmis'],
  description: 'One run of a guest, from its start to its end.',
  versions: ['v1', 'v1alpha3', 'v1alpha2'],
  columns: [
    AGE,
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'IP', type: 'string', jsonPath: '.status.interfaces[0].ipAddress' },
    { name: 'NodeName', type: 'string', jsonPath: '.status.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: conditionPath('Ready') },
    { name: 'Live-Migratable', type: 'string', jsonPath: conditionPath('LiveMigratable'), priority: 1 },
    { name: 'Paused', type: 'string', jsonPath: conditionPath('Paused'), priority: 1 },
  ],
  // No status subresource, as published: clients write spec and status of an instance together.
  remark: 'no status subresource, as in KubeVirt',
  refused: REFUSED_OF_VMI,
});

/** The guest has ended for good; the object only tells how. */
export function isFinal(vmi: VirtualMachineInstance): boolean {
  return vmi.status?.phase === 'Succeeded' || vmi.status?.phase === 'Failed';
}

/** What a host name is made from. */
type Named = { readonly metadata: { readonly name: string }; readonly spec: { readonly hostname?: string } };

/** The name the guest is told: spec.hostname, or the instance's name up to the first dot. */
export function hostnameOf({ metadata, spec }: Named): string {
  const name = spec.hostname || metadata.name.split('.')[0] || '';
  return name.slice(0, 63).replace(/-+$/, ''); // a cut may leave a dash at the end, which no host name may have
}

/** How long the guest has to shut down. */
export function gracePeriodSecondsOf(vmi: VirtualMachineInstance): number {
  return vmi.spec.terminationGracePeriodSeconds ?? 30;
}
