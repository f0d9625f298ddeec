/**
 * The spec of an instance as the rules read it: every field of the published API that a rule is about, all optional. The CRD's schema
 * has checked the types before, and what it does not know never arrives; the rules for such fields wait here for the day it does.
 */
import type { StatusCause } from '../../../base/errors.ts';

/** Every reason to refuse this part of the spec; `path` is where the spec stands in the object. */
export type Check = (spec: CheckedSpec, path: string) => readonly StatusCause[];

export type Amount = string | number;
export type Amounts = Readonly<Record<string, Amount>>;
type Empty = Readonly<Record<string, never>>;
type Named = { readonly name?: string };

type DiskTarget = { readonly bus?: string; readonly readonly?: boolean; readonly pciAddress?: string };
export type CheckedDisk = {
  readonly name: string;
  readonly volumeName?: string;
  readonly disk?: DiskTarget;
  readonly cdrom?: DiskTarget;
  readonly lun?: DiskTarget;
  readonly serial?: string;
  readonly bootOrder?: number;
  readonly dedicatedIOThread?: boolean;
  readonly cache?: string;
  readonly io?: string;
  readonly blockSize?: {
    readonly custom?: { readonly logical?: number; readonly physical?: number; readonly discardGranularity?: number };
    readonly matchVolume?: object;
  };
};

export type CheckedInterface = {
  readonly name: string;
  readonly macAddress?: string;
  readonly bootOrder?: number;
  readonly state?: string;
  readonly pciAddress?: string;
  readonly bridge?: object;
  readonly masquerade?: object;
  readonly sriov?: object;
  readonly passtBinding?: object;
  readonly binding?: Named;
  readonly slirp?: object;
  readonly macvtap?: object;
  readonly passt?: object;
  readonly ports?: readonly { readonly name?: string; readonly port: number; readonly protocol?: string }[];
  readonly dhcpOptions?: {
    readonly ntpServers?: readonly string[];
    readonly privateOptions?: readonly { readonly option: number; readonly value: string }[];
  };
};

export type CheckedNetwork = {
  readonly name: string;
  readonly pod?: { readonly vmNetworkCIDR?: string };
  readonly multus?: { readonly networkName?: string; readonly default?: boolean };
  readonly resourceClaim?: object;
};

export type CheckedCloudInit = {
  readonly userData?: string;
  readonly userDataBase64?: string;
  readonly secretRef?: Named;
  readonly networkData?: string;
  readonly networkDataBase64?: string;
  readonly networkDataSecretRef?: Named;
};

export type CheckedVolume = {
  readonly name: string;
  readonly cloudInitNoCloud?: CheckedCloudInit;
  readonly cloudInitConfigDrive?: CheckedCloudInit;
  readonly containerDisk?: { readonly path?: string };
  readonly registryDisk?: { readonly path?: string };
  readonly emptyDisk?: { readonly capacity?: Amount };
  readonly persistentVolumeClaim?: { readonly claimName?: string };
  readonly ephemeral?: { readonly persistentVolumeClaim?: { readonly claimName?: string } };
  readonly dataVolume?: Named;
  readonly hostDisk?: { readonly path?: string; readonly type?: string; readonly capacity?: Amount };
  readonly configMap?: Named;
  readonly secret?: { readonly secretName?: string };
  readonly serviceAccount?: { readonly serviceAccountName?: string };
  readonly memoryDump?: { readonly claimName?: string };
  readonly downwardMetrics?: object;
} & Readonly<Record<string, unknown>>;

export type CheckedProbe = {
  readonly httpGet?: { readonly port?: unknown };
  readonly tcpSocket?: { readonly port?: unknown; readonly host?: unknown };
  readonly exec?: { readonly command?: unknown };
  readonly guestAgentPing?: object;
  readonly successThreshold?: number;
};

export type CheckedCredential = {
  readonly sshPublicKey?: CredentialWay & { readonly propagationMethod?: Ways };
  readonly userPassword?: CredentialWay & { readonly propagationMethod?: Ways };
};
type CredentialWay = { readonly source?: { readonly secret?: { readonly secretName?: string } } };
type Ways = { readonly configDrive?: object; readonly noCloud?: object; readonly qemuGuestAgent?: { readonly users?: readonly string[] } };

export type CheckedDomain = {
  readonly cpu?: {
    readonly cores?: number;
    readonly sockets?: number;
    readonly threads?: number;
    readonly maxSockets?: number;
    readonly model?: string;
    readonly features?: readonly { readonly name: string; readonly policy?: string }[];
    readonly dedicatedCpuPlacement?: boolean;
    readonly isolateEmulatorThread?: boolean;
    readonly numa?: { readonly guestMappingPassthrough?: Empty };
    readonly realtime?: object;
  };
  readonly memory?: { readonly guest?: Amount; readonly maxGuest?: Amount; readonly hugepages?: { readonly pageSize?: string } };
  readonly machine?: { readonly type?: string };
  readonly firmware?: {
    readonly uuid?: string;
    readonly serial?: string;
    readonly bootloader?: { readonly bios?: object; readonly efi?: { readonly secureBoot?: boolean } };
    readonly kernelBoot?: {
      readonly kernelArgs?: string;
      readonly container?: { readonly image?: string; readonly kernelPath?: string; readonly initrdPath?: string };
    };
  };
  readonly features?: {
    readonly smm?: { readonly enabled?: boolean };
    readonly hyperv?: { readonly vendorid?: { readonly vendorid?: string } };
  };
  readonly clock?: { readonly timer?: { readonly rtc?: { readonly present?: boolean } } };
  readonly chassis?: Readonly<Record<string, string>>;
  readonly resources?: { readonly requests?: Amounts; readonly limits?: Amounts };
  readonly ioThreadsPolicy?: string;
  readonly ioThreads?: { readonly supplementalPoolThreadCount?: number };
  readonly devices?: {
    readonly disks?: readonly CheckedDisk[];
    readonly filesystems?: readonly { readonly name: string }[];
    readonly interfaces?: readonly CheckedInterface[];
    readonly inputs?: readonly { readonly name?: string; readonly type?: string; readonly bus?: string }[];
    readonly sound?: { readonly name?: string; readonly model?: string };
    readonly video?: { readonly type?: string };
    readonly autoattachPodInterface?: boolean;
    readonly autoattachGraphicsDevice?: boolean;
    readonly autoattachMemBalloon?: boolean;
    readonly autoattachInputDevice?: boolean;
    readonly watchdog?: object;
    readonly panicDevices?: readonly { readonly model?: string }[];
  };
};

export type CheckedSpec = {
  readonly domain?: CheckedDomain;
  readonly volumes?: readonly CheckedVolume[];
  readonly networks?: readonly CheckedNetwork[];
  readonly architecture?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly serviceAccountName?: string;
  readonly priorityClassName?: string;
  readonly schedulerName?: string;
  readonly startStrategy?: string;
  readonly evictionStrategy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly livenessProbe?: CheckedProbe;
  readonly readinessProbe?: CheckedProbe;
  readonly accessCredentials?: readonly CheckedCredential[];
  readonly dnsPolicy?: string;
  readonly dnsConfig?: { readonly nameservers?: readonly string[]; readonly searches?: readonly string[] };
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly tolerations?: readonly unknown[];
  readonly affinity?: unknown;
};
