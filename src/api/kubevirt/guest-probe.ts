/**
 * The probes of an instance, and who asks them. Web pages are the kubelet's, at the address of the Pod. The others are virt-handler's: it alone
 * talks to the agent in the guest, and it alone sees whether the guest itself took a connection or only the network in front of it. Pure.
 */
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import type { VmiSpec } from './vmi-spec-schema.ts';

export const VMI_PROBE_KINDS = ['readiness', 'liveness'] as const;
export type VmiProbeKind = (typeof VMI_PROBE_KINDS)[number];
export type VmiProbe = NonNullable<VmiSpec['readinessProbe']>;

/** What the first question waits for in addition, as upstream: a guest has to boot before anything can answer. */
const BOOT_SECONDS = 10;

/** The probe of this kind that the kubelet asks. */
export function kubeletProbe(spec: VmiSpec, kind: VmiProbeKind): VmiProbe | undefined {
  const probe = spec[`${kind}Probe`];
  return probe?.httpGet && withBootTime(probe);
}

/** The probe of this kind that virt-handler asks. */
export function guestProbe(spec: VmiSpec, kind: VmiProbeKind): VmiProbe | undefined {
  const probe = spec[`${kind}Probe`];
  return probe && !probe.httpGet ? withBootTime(probe) : undefined;
}

/** A pause is no failure to an agent that is only pinged; any other liveness probe would end the guest for it. */
export function endsWhenPaused({ spec }: VirtualMachineInstance): boolean {
  return spec.livenessProbe !== undefined && !spec.livenessProbe.guestAgentPing;
}

function withBootTime(probe: VmiProbe): VmiProbe {
  return { ...probe, initialDelaySeconds: (probe.initialDelaySeconds ?? 0) + BOOT_SECONDS };
}
