/** The Pod that takes the memory of a guest to a PVC, on the node of the guest; and the launcher Pod that continues from there. Pure. */
import type { Container, Pod, PodSpec } from '../../api/core/pod.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { MEMORY_VOLUME, type Mount } from '../../api/launcher/mounts.ts';
import { type ResumeOrigin, SAVE_COMMAND, SAVE_CONTAINER, savePodNameOf } from '../../api/launcher/suspension.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { besideLauncher } from './attachment-pod.ts';
import { type LauncherOptions, launcherPodFor } from './launcher-pod.ts';

/** What a program needs that writes a file. */
export const WRITER_RESOURCES = { requests: { cpu: '10m', memory: '40Mi' }, limits: { memory: '256Mi' } } as const;

/** It goes with the launcher Pod, which owns it. */
export function savePodFor(vmi: VirtualMachineInstance, { launcher, ...options }: LauncherOptions & { readonly launcher: Pod }): Pod {
  const pod = besideLauncher(vmi, {
    ...{ launcher, options, name: savePodNameOf(vmi), generateName: 'suspend-' },
    spec: { domain: { devices: { disks: [], interfaces: [], autoattachPodInterface: false } } },
    program: { name: SAVE_CONTAINER, args: [SAVE_COMMAND], resources: WRITER_RESOURCES },
  });
  return {
    ...pod,
    spec: withClaim(pod.spec, { ...MEMORY, container: SAVE_CONTAINER, claimName: vmi.status?.suspension?.claimName ?? '' }),
  };
}

/** The launcher Pod of an instance; one that resumes has its memory. */
export function launcherPodOf(vmi: VirtualMachineInstance, options: LauncherOptions): Pod {
  const pod = launcherPodFor(vmi, options);
  const { phase, claimName, digest, origin } = vmi.status?.suspension ?? {};
  if (phase !== 'Resuming' || claimName === undefined || digest === undefined) return pod;
  const spec = withClaim(pod.spec, { ...MEMORY, container: COMPUTE_CONTAINER, claimName });
  const told = (each: Container): Container => ({
    ...each,
    env: [
      ...(each.env ?? []),
      { name: LAUNCHER_VARIABLES.resume, value: digest },
      ...(origin ? [{ name: LAUNCHER_VARIABLES.resumeOrigin, value: JSON.stringify(origin satisfies ResumeOrigin) }] : []),
    ],
  });
  return { ...pod, spec: { ...spec, containers: spec.containers.map((each) => (each.name === COMPUTE_CONTAINER ? told(each) : each)) } };
}

type ClaimIn = { readonly container: string; readonly claimName: string; readonly mount: Mount };
const MEMORY = { mount: MEMORY_VOLUME } as const;

/** The same Pod with a claim in one of its containers. */
export function withClaim(spec: PodSpec, { container, claimName, mount }: ClaimIn): PodSpec {
  return {
    ...spec,
    volumes: [...(spec.volumes ?? []), { name: mount.name, persistentVolumeClaim: { claimName } }],
    containers: spec.containers.map((each) =>
      each.name === container ? { ...each, volumeMounts: [...(each.volumeMounts ?? []), mount] } : each,
    ),
  };
}
