/** What virt-handler answers, where it is a value. What is asked of an agent has the fields that KubeVirt publishes. */

export type Usage = {
  /** Processor time since the start. */
  readonly cpuSeconds: number;
  /** Resident memory: of QEMU that of the guest which it has touched, and QEMU's own. */
  readonly memoryBytes: number;
  readonly atMs: number;
};

/** What the guest printed, as base64, and when that run ended. */
export type EndedRun = { readonly endedAtMs: number; readonly printed: string };

/** What the program printed, as base64, and how it ended. */
export type ExecResult = {
  readonly exitCode?: number;
  readonly signal?: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Only the beginning was kept. */
  readonly isTruncated: boolean;
};

export type GuestOsInfo = {
  readonly name?: string;
  readonly kernelRelease?: string;
  readonly version?: string;
  readonly prettyName?: string;
  readonly versionId?: string;
  readonly kernelVersion?: string;
  readonly machine?: string;
  readonly id?: string;
};
export type GuestUser = { readonly userName: string; readonly domain?: string; readonly loginTime?: number };
export type GuestFileSystem = {
  readonly diskName: string;
  readonly mountPoint: string;
  readonly fileSystemType: string;
  readonly usedBytes: number;
  readonly totalBytes: number;
  readonly disk?: readonly { readonly serial?: string; readonly busType: string }[];
};
export type GuestUserList = { readonly metadata: object; readonly items: readonly GuestUser[] };
export type GuestFileSystemList = { readonly metadata: object; readonly items: readonly GuestFileSystem[] };
/** What the agent cannot tell is left out. */
export type GuestAgentInfo = {
  readonly guestAgentVersion: string | undefined;
  readonly supportedCommands: readonly { readonly name: string; readonly enabled: boolean }[] | undefined;
  readonly hostname: string | undefined;
  readonly os: GuestOsInfo;
  readonly timezone: string | undefined;
  readonly userList: readonly GuestUser[] | undefined;
  readonly fsInfo: { readonly disks: readonly GuestFileSystem[] };
  readonly fsFreezeStatus: 'frozen' | 'thawed' | undefined;
};
