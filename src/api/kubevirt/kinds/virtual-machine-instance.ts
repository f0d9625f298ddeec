/** VirtualMachineInstance: one run of a guest. */
import type { KubeObject } from '../../meta.ts';
import type { Resource } from '../../resource.ts';
import type { Static } from '../../schema/dsl.ts';
import type { vmiSpecSchema } from '../vmi-spec-schema.ts';
import type { vmiStatusSchema } from './virtual-machine-instance-schema.ts';

export type VmiStatus = Static<typeof vmiStatusSchema>;
export type VmiPhase = NonNullable<VmiStatus['phase']>;
export type VirtualMachineInstance = KubeObject & {
  readonly kind: 'VirtualMachineInstance';
  readonly spec: Static<typeof vmiSpecSchema>;
  readonly status?: VmiStatus;
};

export const VMIS: Resource<VirtualMachineInstance> = {
  group: 'kubevirt.io',
  version: 'v1',
  plural: 'virtualmachineinstances',
  kind: 'VirtualMachineInstance',
  isNamespaced: true,
};

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
