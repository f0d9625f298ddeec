/** Pod: the fields of the published type that our components read or write. */

import type { LabelSelector } from '../../base/selectors.ts';
import type { Condition, KubeObject } from '../meta.ts';
import type { Resource } from '../resource.ts';

export type EnvVar = {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string };
    readonly configMapKeyRef?: KeyRef;
    readonly secretKeyRef?: KeyRef;
    readonly resourceFieldRef?: { readonly resource: string; readonly divisor?: string };
  };
};
type KeyRef = { readonly name: string; readonly key: string; readonly optional?: boolean };
type ObjectRef = { readonly name: string; readonly optional?: boolean };
export type EnvFrom = { readonly prefix?: string; readonly configMapRef?: ObjectRef; readonly secretRef?: ObjectRef };
export type VolumeMount = { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean; readonly subPath?: string };
export type ResourceRequirements = {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
};
export type ContainerPort = {
  readonly name?: string;
  readonly containerPort: number;
  readonly protocol?: string;
  readonly hostPort?: number;
  readonly hostIP?: string;
};
export type SecurityContext = {
  readonly runAsUser?: number;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly fsGroup?: number;
  readonly allowPrivilegeEscalation?: boolean;
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly seccompProfile?: { readonly type: string; readonly localhostProfile?: string };
  readonly seLinuxOptions?: { readonly type?: string };
  readonly readOnlyRootFilesystem?: boolean;
  readonly privileged?: boolean;
  /** Of a Pod. */
  readonly sysctls?: readonly { readonly name: string; readonly value: string }[];
};
export type HttpGetAction = {
  readonly path?: string;
  readonly port: number | string;
  readonly host?: string;
  readonly scheme?: 'HTTP' | 'HTTPS';
  readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
};
export type Probe = {
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly exec?: { readonly command?: readonly string[] };
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
};
export type VolumeDevice = { readonly name: string; readonly devicePath: string };
export type LifecycleHandler = {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: HttpGetAction;
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly sleep?: { readonly seconds: number };
};
export type Lifecycle = { readonly postStart?: LifecycleHandler; readonly preStop?: LifecycleHandler };
export type Container = {
  readonly name: string;
  readonly image?: string;
  readonly imagePullPolicy?: 'Always' | 'IfNotPresent' | 'Never';
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly EnvFrom[];
  readonly stdin?: boolean;
  /** The first client that is attached is the last: when it goes, stdin ends. */
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
  readonly ports?: readonly ContainerPort[];
  readonly resources?: ResourceRequirements;
  readonly volumeMounts?: readonly VolumeMount[];
  readonly volumeDevices?: readonly VolumeDevice[];
  readonly lifecycle?: Lifecycle;
  readonly terminationMessagePolicy?: 'File' | 'FallbackToLogsOnError';
  readonly securityContext?: SecurityContext;
  readonly readinessProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly startupProbe?: Probe;
  /** `Always` on an init container makes it a sidecar. */
  readonly restartPolicy?: string;
};
/** One that somebody put beside the others later, to look into them. It is never run again. */
export type EphemeralContainer = Container & {
  /** Whose processes it sees. */
  readonly targetContainerName?: string;
};
type KeyToPath = { readonly key: string; readonly path: string };
type ProjectedSource = {
  readonly serviceAccountToken?: { readonly path: string; readonly audience?: string; readonly expirationSeconds?: number };
  readonly configMap?: PodVolume['configMap'];
  readonly secret?: { readonly name: string; readonly optional?: boolean; readonly items?: readonly KeyToPath[] };
  readonly downwardAPI?: PodVolume['downwardAPI'];
};
export type PodVolume = {
  readonly name: string;
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string };
  readonly hostPath?: { readonly path: string; readonly type?: string };
  readonly configMap?: { readonly name: string; readonly optional?: boolean; readonly items?: readonly KeyToPath[] };
  readonly secret?: { readonly secretName: string; readonly optional?: boolean; readonly items?: readonly KeyToPath[] };
  readonly projected?: { readonly sources?: readonly ProjectedSource[]; readonly defaultMode?: number };
  readonly downwardAPI?: { readonly items?: readonly { readonly path: string; readonly fieldRef?: { readonly fieldPath: string } }[] };
  readonly persistentVolumeClaim?: { readonly claimName: string; readonly readOnly?: boolean };
  readonly image?: { readonly reference: string; readonly pullPolicy?: 'Always' | 'IfNotPresent' | 'Never' };
};
export type Toleration = {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
  readonly tolerationSeconds?: number;
};
export type PodDnsConfig = {
  readonly nameservers?: readonly string[];
  readonly searches?: readonly string[];
  readonly options?: readonly { readonly name?: string; readonly value?: string }[];
};
export type TopologySpreadConstraint = {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: 'DoNotSchedule' | 'ScheduleAnyway';
  readonly labelSelector?: LabelSelector;
  readonly matchLabelKeys?: readonly string[];
  readonly minDomains?: number;
  readonly nodeAffinityPolicy?: 'Honor' | 'Ignore';
  readonly nodeTaintsPolicy?: 'Honor' | 'Ignore';
};
export type PodSpec = {
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly schedulerName?: string;
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly terminationGracePeriodSeconds?: number;
  readonly serviceAccountName?: string;
  readonly automountServiceAccountToken?: boolean;
  readonly enableServiceLinks?: boolean;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly priorityClassName?: string;
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly tolerations?: readonly Toleration[];
  readonly affinity?: object;
  readonly schedulingGates?: readonly { readonly name: string }[];
  readonly overhead?: Readonly<Record<string, string>>;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly securityContext?: SecurityContext;
  readonly shareProcessNamespace?: boolean;
  /** False: a user namespace of its own. */
  readonly hostUsers?: boolean;
  readonly runtimeClassName?: string;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly hostAliases?: readonly { readonly ip: string; readonly hostnames?: readonly string[] }[];
  readonly dnsPolicy?: string;
  readonly dnsConfig?: PodDnsConfig;
  readonly topologySpreadConstraints?: readonly TopologySpreadConstraint[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly ephemeralContainers?: readonly EphemeralContainer[];
  readonly volumes?: readonly PodVolume[];
};
export type ContainerState = {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: {
    readonly exitCode: number;
    readonly signal?: number;
    readonly reason: string;
    readonly message?: string;
    readonly startedAt?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
};
export type ContainerStatus = {
  readonly name: string;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly ready: boolean;
  readonly started?: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
};
export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
export type PodStatus = {
  readonly phase?: PodPhase;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
  readonly hostIP?: string;
  readonly podIP?: string;
  /** Where room is being made for it. */
  readonly nominatedNodeName?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly qosClass?: 'Guaranteed' | 'Burstable' | 'BestEffort';
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
};
export type Pod = KubeObject & { readonly kind: 'Pod'; readonly spec: PodSpec; readonly status?: PodStatus };

export const PODS: Resource<Pod> = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', isNamespaced: true };

/** The container of this name, of whichever kind. */
export function containerIn({ spec }: Pod, wanted: string): Container | undefined {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])].find(({ name }) => name === wanted);
}

/** A container that starts with the init containers and stays. */
export function isSidecar({ spec }: Pod, name: string): boolean {
  return spec.initContainers?.some((container) => container.name === name && container.restartPolicy === 'Always') ?? false;
}

/** How important it is; the API server has filled it in. */
export function priorityOf({ spec }: Pod): number {
  return spec.priority ?? 0;
}

/** Nothing in this Pod will run again. */
export function isPodFinal(pod: Pod): boolean {
  return pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
}
