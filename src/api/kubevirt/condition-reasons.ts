/** Every condition of our kinds, and for which reasons it is as it is: for who writes them, and for who reads them. */
import { type Condition, conditionOf } from '../meta.ts';
import type { LastShutdownReason } from './ending-reasons.ts';
import type { VirtualMachine } from './kinds/virtual-machine.ts';
import type { VirtualMachineInstance } from './kinds/virtual-machine-instance.ts';
import { READINESS_GATE_GUEST, READINESS_GATE_UNPAUSED } from './names.ts';

/** A reason that is copied from an object of Kubernetes, which has more of them. */
type Copied = string;

/** Why an instance is not ready, where its Pod does not say it. */
export type NotReadyReason = 'GuestNotRunning' | 'PodConditionMissing' | 'PodNotExists' | 'PodTerminating';
/** Why the cluster is not as the instance wants it. */
export type NotSynchronizedReason = 'ErrImagePull' | 'FailedCreate' | 'FailedPvcNotFound' | 'ImagePullBackOff' | 'NoStorageClass';

/** Why an instance stays on its node; the words are KubeVirt's. */
export type NotMigratableReason =
  | 'CPUModeLiveMigratable'
  | 'DisksNotLiveMigratable'
  | 'HostDeviceNotLiveMigratable'
  | 'InterfaceNotLiveMigratable'
  | 'NotMigratable'
  | 'VirtIOFSNotLiveMigratable';

/** Of a VirtualMachineInstance; its VirtualMachine shows the same. */
export type VmiConditions = {
  /** virt-controller; virt-handler at the moment when the guest comes up. */
  readonly Ready: NotReadyReason | Copied;
  readonly PodScheduled: Copied;
  readonly Synchronized: NotSynchronizedReason;
  /** virt-controller: there while status.evacuationNodeName is. */
  readonly EvictionRequested: 'EvictionRequested';
  /** virt-handler: there while they hold. */
  readonly Paused: 'PausedByUser' | 'PausedIOError';
  readonly Unresponsive: 'QMPTimeout';
  /** There from the moment when the guest runs. */
  readonly LiveMigratable: NotMigratableReason;
  readonly StorageLiveMigratable: 'NotMigratable';
  readonly AgentConnected: never;
  readonly AgentVersionNotSupported: 'MissingCommands';
  readonly AccessCredentialsSynchronized: 'AccessCredentialsSyncFailed' | 'AccessCredentialsSyncSuccess';
  /** What a readiness probe inside the guest says. */
  readonly GuestReady: 'ProbeFailed' | 'ProbeSucceeded';
};

/** Of a VirtualMachine. */
export type VmConditions = Omit<VmiConditions, 'Ready'> & {
  readonly Ready: NotReadyReason | 'VMIConditionMissing' | 'VMINotExists' | Copied;
  readonly Failure: 'FailedCreate' | 'FailedDelete' | 'FailedFindInstancetype' | 'FailedFindPreference';
  readonly LastShutdown: LastShutdownReason;
  readonly RestartRequired: 'TemplateChanged';
  /** Ours: True while its memory is on a PVC, False when saving it has failed. */
  readonly Suspended: 'MemorySaved' | 'ResumeFailed' | 'SuspendFailed';
  /** Of KubeVirt; nothing here sets them. */
  readonly ManualRecoveryRequired: Copied;
  readonly VolumesChange: Copied;
};

export type OfflineVmConditions = { readonly Failure: 'FailedCreate' };

export type ReplicaSetConditions = {
  readonly ReplicaFailure: 'FailedCreate' | 'FailedDelete';
  readonly ReplicaPaused: 'Paused';
};

/** Of a VirtualMachineSnapshot. */
export type VmSnapshotConditions = {
  readonly Ready: 'InProgress' | 'Failed' | 'Succeeded';
  readonly Progressing: 'InProgress' | 'Waiting' | 'Failed' | 'Succeeded';
  /** The last two are ours. */
  readonly Failure: 'DeadlineExceeded' | 'NoVolumeSnapshots' | 'MemoryNotKept' | 'VolumeSnapshotFailed';
};
/** Of a VirtualMachineRestore. */
export type VmRestoreConditions = {
  readonly Ready: 'InProgress' | 'Failed' | 'Succeeded';
  readonly Progressing: 'InProgress' | 'Waiting' | 'Failed' | 'Succeeded';
  readonly Failure: 'SnapshotUnusable' | 'TargetNotReady';
};

/** Of a VirtualMachineBackup. */
export type VmBackupConditions = {
  readonly Initializing: 'Initializing' | 'Waiting' | 'Initiated' | 'Failed';
  readonly Progressing: 'Initializing' | 'Initiated' | 'Completed' | 'Failed';
  readonly Done: 'Completed';
  readonly Failed: 'Failed';
  readonly Quiesced: 'QuiesceSucceeded' | 'QuiesceFailed' | 'QuiesceSkipped';
};

/** Of a VirtualMachineClone. */
export type VmCloneConditions = {
  readonly Ready: 'Pending' | 'SnapshotInProgress' | 'RestoreInProgress' | 'CreatingTargetVM' | 'Succeeded' | 'Failed';
  readonly Progressing: 'Pending' | 'SnapshotInProgress' | 'RestoreInProgress' | 'CreatingTargetVM' | 'Succeeded' | 'Failed';
};

/** Of a VirtualMachineExport; the words are KubeVirt's. */
export type VmExportConditions = {
  readonly Ready:
    | 'Initializing'
    | 'InUse'
    | 'NameTaken'
    | 'PodPending'
    | 'PodReady'
    | 'SourceNotReady'
    | 'VMNoVolumes'
    | 'VolumesNotPopulated';
  readonly PVCReady: 'NotAllPVCsReady' | 'PVCBound' | 'PVCPending' | 'VMNoVolumes';
};

/** Of a DataVolume; the words are CDI's. */
export type DataVolumeConditions = {
  readonly Bound: 'Bound' | 'ClaimLost' | 'NotFound' | 'Pending';
  readonly Running: 'Completed' | 'Error' | 'ImagePullFailed' | 'Pending' | 'Pod is running';
  readonly Ready: 'NotReady' | 'Ready';
};

/** Of a launcher Pod, which waits for them to be ready. */
export type ReadinessGates = {
  readonly [READINESS_GATE_UNPAUSED]: 'NotPaused' | 'Paused';
  readonly [READINESS_GATE_GUEST]: Copied;
};

/** How far an installation is, and what keeps it from the next stage. */
export type InstallationReason =
  | 'AllComponentsReady'
  | 'ComponentsNotReady'
  | 'DeletionInProgress'
  | 'DeploymentInProgress'
  | 'UpdateInProgress';
export type InstallationProblemReason =
  | 'ComponentFails'
  | 'ImageCannotBePulled'
  | 'InvalidConfiguration'
  | 'NoNodeFits'
  | 'NoNodes'
  | 'PodsRefused'
  | 'UnsupportedKubernetes'
  | 'WorkloadsExist';
export type KubeVirtConditions = {
  readonly Created: 'AllResourcesCreated' | InstallationReason | InstallationProblemReason;
  readonly Available: InstallationReason | InstallationProblemReason;
  readonly Progressing: InstallationReason | InstallationProblemReason;
  readonly Degraded: InstallationReason | InstallationProblemReason;
};

/** A condition as it is read: what its writers may have said. */
export type Known<Reasons, Type extends keyof Reasons> = Omit<Condition, 'type' | 'reason'> & {
  readonly type: Type;
  readonly reason?: Reasons[Type];
};

/** What an instance says of this; undefined when it says nothing. */
export function vmiCondition<Type extends keyof VmiConditions>(
  vmi: Pick<VirtualMachineInstance, 'status'> | undefined,
  type: Type,
): Known<VmiConditions, Type> | undefined {
  return conditionOf(vmi?.status?.conditions, type) as Known<VmiConditions, Type> | undefined; // only our components write a status
}

/** What a machine says of this; undefined when it says nothing. */
export function vmCondition<Type extends keyof VmConditions>(
  vm: Pick<VirtualMachine, 'status'> | undefined,
  type: Type,
): Known<VmConditions, Type> | undefined {
  return conditionOf(vm?.status?.conditions, type) as Known<VmConditions, Type> | undefined; // only our components write a status
}

/** Whether an instance says so. */
export function vmiIs(vmi: Pick<VirtualMachineInstance, 'status'> | undefined, type: keyof VmiConditions): boolean {
  return vmiCondition(vmi, type)?.status === 'True';
}

/** Whether a machine says so. */
export function vmIs(vm: Pick<VirtualMachine, 'status'> | undefined, type: keyof VmConditions): boolean {
  return vmCondition(vm, type)?.status === 'True';
}
