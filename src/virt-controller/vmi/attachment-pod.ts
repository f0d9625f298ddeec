/** The Pod that attaches one volume to a guest that runs: the launcher Pod of a machine that has this volume alone, on the node of the guest. Pure. */
import type { Container, Pod, PodSpec } from '../../api/core/pod.ts';
import type { HotplugDisk } from '../../api/kubevirt/hotplug.ts';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_DOMAIN, LABEL_COMPONENT, LABEL_CREATED_BY } from '../../api/kubevirt/names.ts';
import { marked } from '../../api/kubevirt/volumes/source-of.ts';
import { ATTACH_COMMAND, ATTACH_CONTAINER, ATTACHMENT_COMPONENT, attachmentPodNameOf } from '../../api/launcher/attachment.ts';
import { COMPUTE_CONTAINER } from '../../api/launcher/compute.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { type LauncherOptions, launcherPodFor } from './launcher-pod.ts';

/** What a program needs that serves one disk. A limit of its processor would be one of the disk. */
const RESOURCES = { requests: { cpu: '10m', memory: '20Mi' }, limits: { memory: '256Mi' } } as const;

/** It goes with the launcher Pod, which owns it. */
export function attachmentPodFor(
  vmi: VirtualMachineInstance,
  { volume, disk }: HotplugDisk,
  { launcher, ...options }: LauncherOptions & { readonly launcher: Pod },
): Pod {
  return besideLauncher(vmi, {
    ...{ launcher, options, name: attachmentPodNameOf(vmi, volume.name), generateName: 'hp-volume-' },
    spec: {
      domain: { devices: { disks: [disk], interfaces: [], autoattachPodInterface: false } },
      // In this Pod it is there from the start.
      volumes: [marked(volume, false) ?? volume],
    },
    program: { name: ATTACH_CONTAINER, args: [ATTACH_COMMAND], resources: RESOURCES },
  });
}

type Beside = {
  readonly launcher: Pod;
  readonly options: LauncherOptions;
  readonly name: string;
  readonly generateName: string;
  /** Of a machine that has what this Pod needs, and nothing else. */
  readonly spec: VirtualMachineInstance['spec'];
  readonly program: Pick<Container, 'name' | 'args' | 'resources'>;
};

/** A Pod of the launcher's image on the node of the guest. It goes with the launcher Pod, which owns it. */
export function besideLauncher(vmi: VirtualMachineInstance, { launcher, options, ...own }: Beside): Pod {
  const { namespace, name, uid = '' } = vmi.metadata;
  const { status: _status, ...rest } = vmi;
  const alone: VirtualMachineInstance = { ...rest, metadata: { namespace, name, uid }, spec: own.spec };
  const { spec } = launcherPodFor(alone, { ...options, hasKvm: false });
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: own.name,
      generateName: own.generateName,
      namespace,
      labels: { [LABEL_COMPONENT]: ATTACHMENT_COMPONENT, [LABEL_CREATED_BY]: uid },
      annotations: { [ANNOTATION_DOMAIN]: name },
      ownerReferences: [controllerReferenceTo(launcher)],
    },
    spec: besideGuest(spec, launcher, own.program),
  };
}

/** A scheduler has to see it: a claim may wait for the first Pod that uses it. */
function besideGuest(spec: PodSpec, { spec: { nodeName = '', tolerations } }: Pod, program: Beside['program']): PodSpec {
  const { readinessGates: _gates, hostname: _hostname, nodeSelector: _selector, ...rest } = spec;
  const { sysctls: _sysctls, ...securityContext } = spec.securityContext ?? {};
  const term = { matchFields: [{ key: 'metadata.name', operator: 'In', values: [nodeName] }] };
  return {
    ...rest,
    securityContext,
    // One second, not none: with none the object would be gone before its process is.
    terminationGracePeriodSeconds: 1,
    affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [term] } } },
    ...(tolerations && { tolerations }),
    containers: spec.containers.map((each) => (each.name === COMPUTE_CONTAINER ? serving(each, program) : each)),
  };
}

function serving(compute: Container, program: Beside['program']): Container {
  return {
    ...compute,
    ...program,
    securityContext: { ...compute.securityContext, capabilities: { drop: ['ALL'] } },
  };
}
