/** What a KubeVirt object comes to for those who run machines: every setting has a value, the default where nobody gave one. Pure. */
import type { ResourceRequirements } from '../../core/pod.ts';
import type { MachineSettings } from '../../launcher/machine-settings.ts';
import type { Static } from '../../schema/dsl.ts';
import type { configurationSchema } from './configuration-schema.ts';
import { GATE_HOST_DISK, type HostDiskFolder } from './host-disk-folders.ts';
import { type MigrationSettings, migrationSettingsOf } from './migration-settings.ts';
import { cipherListOf } from './tls-ciphers.ts';

export type KubeVirtConfiguration = Static<typeof configurationSchema>;

/** What becomes of instance types and preferences that machines name. */
export type ReferencePolicy = 'reference' | 'expand' | 'expandAll';

/** So many requests at once, and then so many a second. */
export type ClientLimit = { readonly qps: number; readonly burst: number };

export type ClusterConfiguration = {
  /** Of machines that name none. */
  readonly machineType: string;
  /** Machine types that may be asked for, with * for any letters. */
  readonly emulatedMachines: readonly string[];
  readonly cpuModel: string;
  /** What a machine that names no processors asks for; by their number when nobody set it. */
  readonly cpuRequest?: string | number | undefined;
  readonly evictionStrategy?: KubeVirtConfiguration['evictionStrategy'] | undefined;
  readonly launcherPullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  /** What the memory beside that of the guest is multiplied by. */
  readonly overheadRatio: number;
  /** Virtual processors to a real one. */
  readonly cpuAllocationRatio: number;
  /** What guests see in percent of what their Pods ask for. */
  readonly memoryOvercommit: number;
  readonly nodeSelectors: Readonly<Record<string, string>>;
  readonly runtimeClass?: string | undefined;
  readonly seccompProfile: { readonly type: string; readonly localhostProfile?: string };
  readonly selinuxType?: string | undefined;
  /** Of the containers that hold disks, where images are no volumes. */
  readonly diskContainerResources?: ResourceRequirements | undefined;
  /** What launchers are told of every machine. */
  readonly machineSettings: MachineSettings;
  /** The serial consoles of machines that do not say it are not logged. */
  readonly isSerialLogOff: boolean;
  readonly logVerbosity: NonNullable<NonNullable<KubeVirtConfiguration['developerConfiguration']>['logVerbosity']>;
  readonly tls: { readonly minVersion: 'TLSv1.2' | 'TLSv1.3'; readonly ciphers?: string | undefined };
  /** How many machines of a node may have a device of it. */
  readonly machinesPerNode: number;
  /** How often components may ask the API server, by their names; as often as they like where nothing is said. */
  readonly clientLimits: Readonly<Partial<Record<'virt-api' | 'virt-controller' | 'virt-handler', ClientLimit>>>;
  readonly referencePolicy: ReferencePolicy;
  /** How machines are moved that no policy is for. */
  readonly migrations: MigrationSettings;
  /** The key of the taint by which machines leave a node. */
  readonly nodeDrainTaintKey: string;
  /** Guests run without KVM. */
  readonly isEmulated: boolean;
  /** Launcher Pods have a user namespace of their own. */
  readonly hasUserNamespaces: boolean;
  /** Guests may share the folders of PVCs. */
  readonly hasSharedFolders: boolean;
  /** Where files of nodes may be disks of machines; undefined where none may. */
  readonly hostDiskFolders?: readonly HostDiskFolder[] | undefined;
};

/** The machine types that there are. */
export const ALL_MACHINES: readonly string[] = ['q35*', 'pc-q35*'];
/** Our own: KubeVirt has no gate for it. */
const GATE_USER_NAMESPACES = 'UserNamespaces';
/** As well: for tests of an installation. */
const GATE_FAIL_FAST = 'LauncherFailFast';
/** KubeVirt's: sharing needs user namespaces inside the Pod, which most clusters do not allow. */
export const GATE_SHARED_FOLDERS = 'EnableVirtioFsStorageVolumes';
/** Upstream's own default of cpuRequest: who writes it out asks for nothing else than who does not. */
const NO_CPU_REQUEST = '100m';

export function clusterConfigurationOf(configuration: KubeVirtConfiguration = {}): ClusterConfiguration {
  const { developerConfiguration: developer = {}, architectureConfiguration: { amd64 = {} } = {}, cpuRequest } = configuration;
  const { featureGates = [], disabledFeatureGates = [] } = developer;
  const isOn = (gate: string) => featureGates.includes(gate) && !disabledFeatureGates.includes(gate);
  return {
    machineType: amd64.machineType || configuration.machineType || 'q35',
    emulatedMachines: nonEmpty(amd64.emulatedMachines) ?? nonEmpty(configuration.emulatedMachines) ?? ALL_MACHINES,
    cpuModel: configuration.cpuModel || 'host-model',
    cpuRequest: cpuRequest === NO_CPU_REQUEST ? undefined : cpuRequest,
    evictionStrategy: configuration.evictionStrategy,
    launcherPullPolicy: configuration.imagePullPolicy ?? 'IfNotPresent',
    overheadRatio: ratioOf(configuration.additionalGuestMemoryOverheadRatio) ?? 1,
    cpuAllocationRatio: developer.cpuAllocationRatio ?? 10,
    memoryOvercommit: developer.memoryOvercommit ?? 100,
    nodeSelectors: developer.nodeSelectors ?? {},
    runtimeClass: configuration.defaultRuntimeClass || undefined,
    seccompProfile: seccompProfileOf(configuration),
    selinuxType: configuration.selinuxLauncherType || undefined,
    diskContainerResources: diskContainerResourcesOf(configuration),
    machineSettings: machineSettingsOf(configuration),
    isSerialLogOff: configuration.virtualMachineOptions?.disableSerialConsoleLog !== undefined,
    logVerbosity: developer.logVerbosity ?? {},
    tls: {
      minVersion: configuration.tlsConfiguration?.minTLSVersion === 'VersionTLS13' ? 'TLSv1.3' : 'TLSv1.2',
      ciphers: cipherListOf(configuration.tlsConfiguration?.ciphers),
    },
    machinesPerNode: configuration.virtualMachineInstancesPerNode ?? 1_000,
    clientLimits: clientLimitsOf(configuration),
    referencePolicy: configuration.instancetype?.referencePolicy ?? 'reference',
    migrations: migrationSettingsOf(configuration.migrations),
    nodeDrainTaintKey: configuration.migrations?.nodeDrainTaintKey || 'kubevirt.io/drain',
    isEmulated: developer.useEmulation ?? false,
    hasUserNamespaces: isOn(GATE_USER_NAMESPACES),
    hasSharedFolders: isOn(GATE_SHARED_FOLDERS),
    hostDiskFolders: isOn(GATE_HOST_DISK) ? (developer.hostDiskFolders ?? []) : undefined,
  };
}

/** Where nobody has said anything. */
export const DEFAULT_CONFIGURATION: ClusterConfiguration = clusterConfigurationOf();

/** Whether a machine type is one of these, in which * stands for any letters. */
export function isAmongMachines(type: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    const [start = '', ...rest] = pattern.split('*');
    if (!type.startsWith(start)) return false;
    let at = start.length;
    for (const [index, part] of rest.entries()) {
      if (index === rest.length - 1 && part !== '') return type.length - part.length >= at && type.endsWith(part);
      const found = type.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return rest.length > 0 || at === type.length;
  });
}

/** A number of at least 1; undefined for anything else. */
export function ratioOf(text: string | undefined): number | undefined {
  const number = text && /^\d{1,6}(\.\d{1,6})?$/.test(text) ? Number(text) : undefined;
  return number !== undefined && number >= 1 ? number : undefined;
}

function nonEmpty(list: readonly string[] | undefined): readonly string[] | undefined {
  return list && list.length > 0 ? list : undefined;
}

function clientLimitsOf(configuration: KubeVirtConfiguration): ClusterConfiguration['clientLimits'] {
  const { apiConfiguration, webhookConfiguration, controllerConfiguration, handlerConfiguration } = configuration;
  const of = (each: typeof apiConfiguration) => each?.restClient?.rateLimiter?.tokenBucketRateLimiter;
  const limits = {
    'virt-api': of(apiConfiguration) ?? of(webhookConfiguration), // one program here
    'virt-controller': of(controllerConfiguration),
    'virt-handler': of(handlerConfiguration),
  };
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== undefined));
}

function seccompProfileOf({ seccompConfiguration }: KubeVirtConfiguration): ClusterConfiguration['seccompProfile'] {
  const { localhostProfile } = seccompConfiguration?.virtualMachineInstanceProfile?.customProfile ?? {};
  return localhostProfile ? { type: 'Localhost', localhostProfile } : { type: 'RuntimeDefault' };
}

function machineSettingsOf(configuration: KubeVirtConfiguration): MachineSettings {
  const { smbios, memBalloonStatsPeriod, virtualMachineOptions, developerConfiguration: { featureGates = [] } = {} } = configuration;
  return {
    ...(smbios && Object.values(smbios).some(Boolean) && { smbios }),
    ...(memBalloonStatsPeriod !== undefined && { balloonStatsSeconds: memBalloonStatsPeriod }),
    ...(virtualMachineOptions?.disableFreePageReporting && { isFreePageReportingOff: true }),
    ...(featureGates.includes(GATE_FAIL_FAST) && { mayFailFast: true }),
  };
}

function diskContainerResourcesOf({ supportContainerResources = [] }: KubeVirtConfiguration): ResourceRequirements | undefined {
  const found = supportContainerResources.find(({ type }) => type === 'container-disk')?.resources;
  if (!found) return undefined;
  const texts = (amounts: Readonly<Record<string, string | number>> | undefined) =>
    amounts && Object.fromEntries(Object.entries(amounts).map(([name, amount]) => [name, String(amount)]));
  const [requests, limits] = [texts(found.requests), texts(found.limits)];
  return { ...(requests && { requests }), ...(limits && { limits }) };
}
