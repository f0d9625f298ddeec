/** The Pod that runs one instance: what KubeVirt gives its launcher, without what only libvirt needs. Pure. */
import type { Container, EnvVar, Pod, PodSpec } from '../../api/core/pod.ts';
import { type ClusterConfiguration, DEFAULT_CONFIGURATION } from '../../api/kubevirt/configuration/cluster-configuration.ts';
import { hostDiskFoldersFor } from '../../api/kubevirt/configuration/host-disk-folders.ts';
import { guestProbe, kubeletProbe } from '../../api/kubevirt/guest-probe.ts';
import { hostnameOf } from '../../api/kubevirt/hostname.ts';
import { startedSpec } from '../../api/kubevirt/hotplug.ts';
import { gracePeriodSecondsOf, type VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import {
  ANNOTATION_DOMAIN,
  LABEL_COMPONENT,
  LABEL_CREATED_BY,
  LABEL_SCHEDULABLE,
  READINESS_GATE_GUEST,
  READINESS_GATE_UNPAUSED,
} from '../../api/kubevirt/names.ts';
import type { Volume } from '../../api/kubevirt/vmi-spec-schema.ts';
import { accountsOf } from '../../api/kubevirt/volumes/source-of.ts';
import { COMPUTE_CONTAINER, LAUNCHER_COMMAND, LAUNCHER_PROGRAM, QEMU_USER } from '../../api/launcher/compute.ts';
import { PRIVATE_VOLUME, PUBLIC_VOLUME } from '../../api/launcher/mounts.ts';
import { podLabelsOf } from '../../api/launcher/pod-labels.ts';
import { launcherPodNameOf } from '../../api/launcher/pod-name.ts';
import { ACCELERATOR_VARIABLE, LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { type Claims, diskFormatOf, diskImageOf, newDiskBytes } from './claims.ts';
import { launcherResources } from './launcher-resources.ts';
import { type ContainerDiskWay, type LauncherVolumes, launcherVolumes } from './launcher-volumes.ts';

/** Kubernetes makes fields of the containers out of the last three: how the launcher is confined is not for the machine to say. */
const NOT_CARRIED = [
  'kubectl.kubernetes.io',
  'container.apparmor.security.beta.kubernetes.io',
  'container.seccomp.security.alpha.kubernetes.io',
  'seccomp.security.alpha.kubernetes.io',
];
/** Time for the Pod to end by itself after the guest's grace period is over: two times upstream's 15 s. */
const GRACE_MARGIN_SECONDS = 30;

export type LauncherOptions = {
  readonly image: string;
  /** The claims that the instance uses. */
  readonly claims?: Claims | undefined;
  /** An image volume when not given. */
  readonly containerDisks?: ContainerDiskWay | undefined;
  /** There are nodes that give their KVM to Pods: it runs on one of these. */
  readonly hasKvm?: boolean | undefined;
  /** That of the installation; the defaults when not given. */
  readonly configuration?: ClusterConfiguration;
};

/** The launcher Pod for an instance that has none yet. */
export function launcherPodFor(given: VirtualMachineInstance, options: LauncherOptions): Pod {
  // What is hotplugged comes by Pods of its own.
  const vmi = { ...given, spec: startedSpec(given.spec) };
  const { name, namespace, uid = '' } = vmi.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: launcherPodNameOf(vmi),
      generateName: `virt-launcher-${name}-`,
      namespace,
      labels: {
        ...podLabelsOf(vmi),
        [LABEL_COMPONENT]: LAUNCHER_PROGRAM,
        [LABEL_CREATED_BY]: uid,
      },
      annotations: {
        ...carriedAnnotations(vmi),
        [ANNOTATION_DOMAIN]: name,
        'kubectl.kubernetes.io/default-container': COMPUTE_CONTAINER,
      },
      ownerReferences: [controllerReferenceTo(vmi)],
    },
    spec: podSpec(vmi, options),
  };
}

function podSpec(vmi: VirtualMachineInstance, options: LauncherOptions): PodSpec {
  const { nodeSelector, affinity, tolerations, schedulerName, priorityClassName, subdomain } = vmi.spec;
  const { topologySpreadConstraints, dnsPolicy, dnsConfig } = vmi.spec;
  const [serviceAccountName] = accountsOf(vmi.spec);
  const { claims, containerDisks: way = 'image-volume', configuration = DEFAULT_CONFIGURATION } = options;
  const { nodeSelectors, seccompProfile, selinuxType, runtimeClass, hasUserNamespaces, diskContainerResources } = configuration;
  const own = launcherVolumes(vmi, {
    ...{ claims, way, diskContainerResources },
    resources: launcherResources(vmi.spec, options),
    hostDiskFolders: hostDiskFoldersFor(configuration.hostDiskFolders, vmi.metadata.namespace),
  });
  return {
    restartPolicy: 'Never',
    enableServiceLinks: false,
    automountServiceAccountToken: false,
    terminationGracePeriodSeconds: gracePeriodSecondsOf(vmi) + GRACE_MARGIN_SECONDS,
    hostname: hostnameOf(vmi),
    nodeSelector: { ...nodeSelectors, ...nodeSelector, [LABEL_SCHEDULABLE]: 'true' },
    readinessGates: gatesOf(vmi),
    securityContext: {
      runAsUser: QEMU_USER,
      runAsGroup: QEMU_USER,
      runAsNonRoot: true,
      fsGroup: QEMU_USER,
      seccompProfile,
      ...(selinuxType && { seLinuxOptions: { type: selinuxType } }),
      // QEMU opens the guest's ports at the Pod's address, low ones included; a user other than root has no capability for it.
      sysctls: [
        { name: 'net.ipv4.ip_unprivileged_port_start', value: '0' },
        // It also sends the guest's pings, which some container runtimes allow to nobody.
        { name: 'net.ipv4.ping_group_range', value: `${QEMU_USER} ${QEMU_USER}` },
      ],
    },
    ...(own.containers.length > 0 && { shareProcessNamespace: true }),
    // Kubernetes has none for Pods with block devices.
    ...(hasUserNamespaces && own.devices.length === 0 && { hostUsers: false }),
    ...(runtimeClass && { runtimeClassName: runtimeClass }),
    containers: [computeContainer(vmi, options, own), ...own.containers],
    volumes: [{ name: PUBLIC_VOLUME.name, emptyDir: {} }, { name: PRIVATE_VOLUME.name, emptyDir: {} }, ...own.volumes],
    ...(subdomain && { subdomain }),
    ...(affinity !== undefined && { affinity: affinity as object }), // a Pod's affinity, kept as written
    ...(tolerations && { tolerations }),
    ...(schedulerName && { schedulerName }),
    ...(priorityClassName && { priorityClassName }),
    ...(topologySpreadConstraints && { topologySpreadConstraints }),
    ...(serviceAccountName && { serviceAccountName }),
    ...(dnsPolicy && { dnsPolicy }),
    ...(dnsConfig && { dnsConfig }),
    ...(own.pullSecrets.length > 0 && { imagePullSecrets: own.pullSecrets.map((name) => ({ name })) }),
  };
}

function gatesOf({ spec }: VirtualMachineInstance): NonNullable<PodSpec['readinessGates']> {
  const gates = [READINESS_GATE_UNPAUSED, ...(guestProbe(spec, 'readiness') ? [READINESS_GATE_GUEST] : [])];
  return gates.map((conditionType) => ({ conditionType }));
}

function computeContainer(vmi: VirtualMachineInstance, options: LauncherOptions, own: LauncherVolumes): Container {
  const { image, claims, configuration = DEFAULT_CONFIGURATION } = options;
  const readinessProbe = kubeletProbe(vmi.spec, 'readiness');
  const livenessProbe = kubeletProbe(vmi.spec, 'liveness');
  return {
    name: COMPUTE_CONTAINER,
    image,
    imagePullPolicy: configuration.launcherPullPolicy,
    command: [LAUNCHER_PROGRAM],
    args: [LAUNCHER_COMMAND],
    env: [vmiVariable(vmi), ...newDisksVariable(vmi, claims), ...diskVariables(vmi, claims), ...own.env, ...settings(configuration)],
    resources: launcherResources(vmi.spec, options),
    // Asked at the address of the Pod, where the guest's ports are.
    ...(readinessProbe && { readinessProbe }),
    // Nobody would press the power button of a guest that a kubelet has given up, so it need not wait for that.
    ...(livenessProbe && { livenessProbe: { ...livenessProbe, terminationGracePeriodSeconds: 1 } }),
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
      readOnlyRootFilesystem: true,
    },
    // The launcher's last line says why it cannot start a guest.
    terminationMessagePolicy: 'FallbackToLogsOnError',
    ...(own.lifecycle && { lifecycle: own.lifecycle }),
    volumeMounts: [PUBLIC_VOLUME, PRIVATE_VOLUME, ...own.mounts],
    ...(own.devices.length > 0 && { volumeDevices: own.devices }),
  };
}

/** What is said of every machine. A launcher looks at its host for KVM unless it is told. */
function settings({ isEmulated, machineSettings }: ClusterConfiguration): EnvVar[] {
  const value = JSON.stringify(machineSettings).replaceAll('$', '\\u0024');
  return [
    ...(isEmulated ? [{ name: ACCELERATOR_VARIABLE, value: 'tcg' }] : []),
    ...(value === '{}' ? [] : [{ name: LAUNCHER_VARIABLES.settings, value }]),
  ];
}

function vmiVariable(vmi: VirtualMachineInstance): EnvVar {
  const { name, namespace, uid } = vmi.metadata;
  const annotations = carriedAnnotations(vmi);
  const json = JSON.stringify({
    apiVersion: vmi.apiVersion,
    kind: vmi.kind,
    metadata: { name, namespace, uid, ...(Object.keys(annotations).length > 0 && { annotations }) },
    spec: vmi.spec,
  });
  // A kubelet expands $(X) and halves $$ in values, which would change user data; in JSON a dollar can be written without one.
  return { name: LAUNCHER_VARIABLES.vmi, value: json.replaceAll('$', '\\u0024') };
}

/** Only we see the claims; the launcher sees folders, which do not tell how large they may become. */
function newDisksVariable({ spec }: VirtualMachineInstance, claims: Claims | undefined): EnvVar[] {
  const sizes = newDiskBytes(spec, claims);
  return Object.keys(sizes).length === 0 ? [] : [{ name: LAUNCHER_VARIABLES.newDiskBytes, value: JSON.stringify(sizes) }];
}

/** Which of the disks begin as which image, and which have which format, as their claims say. */
function diskVariables({ spec: { volumes = [] } }: VirtualMachineInstance, claims: Claims | undefined): EnvVar[] {
  const byVolume = (name: string, wordOf: (volume: Volume, claims: Claims | undefined) => string | undefined): EnvVar[] => {
    const words = volumes.flatMap((volume) => {
      const word = wordOf(volume, claims);
      return word ? [[volume.name, word] as const] : [];
    });
    return words.length === 0 ? [] : [{ name, value: JSON.stringify(Object.fromEntries(words)) }];
  };
  return [...byVolume(LAUNCHER_VARIABLES.diskImages, diskImageOf), ...byVolume(LAUNCHER_VARIABLES.diskFormats, diskFormatOf)];
}

function carriedAnnotations({ metadata: { annotations = {} } }: VirtualMachineInstance): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_CARRIED.some((start) => key.startsWith(start))));
}
