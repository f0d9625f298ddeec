/** VirtualMachineInstance: one run of a guest. */

import type { KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';
import { integer, list, mapOf, object, oneOf, optional, type Static, text, time } from '../schema/dsl.ts';
import { conditionsSchema } from './condition-schema.ts';
import type { vmiSpecSchema } from './vmi-spec-schema.ts';

export const VMI_PHASES = ['Pending', 'Scheduling', 'Scheduled', 'Running', 'Succeeded', 'Failed', 'Unknown'] as const;
export type VmiPhase = (typeof VMI_PHASES)[number];

export const vmiStatusSchema = object('What is known of the instance. Written by our components alone.', {
  phase: optional(oneOf('Where the instance is in its life.', VMI_PHASES)),
  phaseTransitionTimestamps: optional(
    list(
      'When each phase was first reached.',
      object('One phase.', { phase: oneOf('The phase.', VMI_PHASES), phaseTransitionTimestamp: time('When it was reached.') }),
    ),
  ),
  reason: optional(text('One word for why the instance ended, when there is more to say than the phase.')),
  nodeName: optional(text('The node it runs on.')),
  conditions: optional(conditionsSchema),
  interfaces: optional(
    list(
      'Network cards as they are.',
      object('One card.', {
        name: optional(text('The network it is plugged into.')),
        mac: optional(text('Its hardware address.')),
        ipAddress: optional(text('The address under which the guest can be reached.')),
        ipAddresses: optional(list('All of them.', text('An address.'))),
      }),
    ),
  ),
  activePods: optional(mapOf('Launcher Pods by uid, and the node of each.', text('The node.'))),
  virtualMachineRevisionName: optional(text('The revision of the VirtualMachine that this instance was made from.')),
  runtimeUser: optional(integer('The user id that QEMU runs as.', { format: 'int64' })),
  qosClass: optional(text('The quality-of-service class of the Pod.')),
});

export type VmiStatus = Static<typeof vmiStatusSchema>;
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

/** The name the guest is told: spec.hostname, or the instance's name up to the first dot. */
export function hostnameOf(vmi: VirtualMachineInstance): string {
  const name = vmi.spec.hostname || vmi.metadata.name.split('.')[0] || '';
  return name.slice(0, 63).replace(/-+$/, ''); // a cut may leave a dash at the end, which no host name may have
}

/** How long the guest has to shut down. */
export function gracePeriodSecondsOf(vmi: VirtualMachineInstance): number {
  return vmi.spec.terminationGracePeriodSeconds ?? 30;
}
