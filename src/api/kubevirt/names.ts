/** Labels, annotations and finalizers that are part of the KubeVirt API; spelled once. */
export const LABEL_COMPONENT = 'kubevirt.io';
export const LABEL_CREATED_BY = 'kubevirt.io/created-by';
/** On every object that an installation is made of, and its value there. */
export const LABEL_MANAGED_BY = 'app.kubernetes.io/managed-by';
export const MANAGED_BY_OPERATOR = 'virt-operator';
/** On the instance types and preferences that come with an installation, and its value there. */
export const LABEL_NAME = 'app.kubernetes.io/name';
export const NAME_COMMON_INSTANCETYPES = 'common-instancetypes';
export const LABEL_NODE_NAME = 'kubevirt.io/nodeName';
/** The node that an instance is being moved to, while it is; the virt-handler there gets ready by it. */
export const LABEL_MIGRATION_TARGET_NODE = 'kubevirt.io/migrationTargetNodeName';
/** On the Pod that a machine is moved to: the uid and the name of the migration. */
export const LABEL_MIGRATION_JOB = 'kubevirt.io/migrationJobUID';
export const ANNOTATION_MIGRATION_JOB = 'kubevirt.io/migrationJobName';
/** Of a migration: how many seconds its Pod may be without a node, and how many it may take to come up, when not the usual. */
export const ANNOTATION_MIGRATION_UNSCHEDULABLE_SECONDS = 'kubevirt.io/migrationUnschedulablePodTimeoutSeconds';
export const ANNOTATION_MIGRATION_PENDING_SECONDS = 'kubevirt.io/migrationPendingPodTimeoutSeconds';
/** On a migration: the instance that it moves, for who looks by label. */
export const LABEL_MIGRATION_VMI = 'kubevirt.io/vmi-name';
export const LABEL_SCHEDULABLE = 'kubevirt.io/schedulable';
export const LABEL_VM_NAME = 'vm.kubevirt.io/name';
export const LABEL_VMI_ID = 'vmi.kubevirt.io/id';

export const ANNOTATION_DOMAIN = 'kubevirt.io/domain';
export const ANNOTATION_HEARTBEAT = 'kubevirt.io/heartbeat';
export const ANNOTATION_VM_GENERATION = 'kubevirt.io/vm-generation';

/** On a claim: the folder of the host that it stands for, told to people; nothing follows from it. */
export const ANNOTATION_SHARED_FOLDER = 'kubevirt.io/shared-folder';
/** On a claim: the container image that its disk is a copy of when it is first used. */
export const ANNOTATION_DISK_IMAGE = 'kubevirt.io/disk-image';
/** On a claim: its own uid, once its disk has been made and a guest has run from it. From then on the image is not needed; a copy of the claim is another one. */
export const ANNOTATION_DISK_MADE = 'kubevirt.io/disk-made';
/** On a claim: the dump of a guest's memory that it holds. */
export const ANNOTATION_MEMORY_DUMP = 'kubevirt.io/memory-dump';
/** On a claim: the format of the disk that somebody has put there, `raw` (as when it is not said) or `qcow2`. */
export const ANNOTATION_DISK_FORMAT = 'kubevirt.io/disk-format';

/** On every Pod that CDI, or we in its place, make to fill a PVC: what the Pod does. */
export const LABEL_CDI = 'cdi.kubevirt.io';
/** On the PVC of a DataVolume, as CDI has them. */
export const CDI_ANNOTATIONS = {
  contentType: 'cdi.kubevirt.io/storage.contentType',
  source: 'cdi.kubevirt.io/storage.import.source',
  endpoint: 'cdi.kubevirt.io/storage.import.endpoint',
  /** The phase of the Pod that fills it; Succeeded when it is filled. */
  podPhase: 'cdi.kubevirt.io/storage.pod.phase',
  /** "true" when that Pod takes an upload. */
  podReady: 'cdi.kubevirt.io/storage.pod.ready',
  /** There, whatever it says: the PVC is to be filled by an upload. */
  uploadTarget: 'cdi.kubevirt.io/storage.upload.target',
} as const;
/** On a DataVolume: its PVC gets its volume at once, wherever the class would wait for a Pod. */
export const ANNOTATION_BIND_IMMEDIATELY = 'cdi.kubevirt.io/storage.bind.immediate.requested';
/** On a machine: "false" when its DataVolumes are made with its first start, not before. */
export const ANNOTATION_IMMEDIATE_DATA_VOLUMES = 'kubevirt.io/immediate-data-volume-creation';

/** On a machine or an instance: the user in the guest that is logged in when nobody names another. */
export const ANNOTATION_LOGIN_USER = 'kubevirt.io/login-user';

/** On a Service of the embedded cluster: where the host reaches its NodePorts, `80:30080/TCP=127.0.0.1:30080`, one after the other with commas. */
export const ANNOTATION_HOST_ADDRESSES = 'kubevirt.io/host-addresses';
/** On a Service with a NodePort, as well: the port of the host that leads to its first one instead. Only administrators may write it. */
export const ANNOTATION_HOST_PORT = 'kubevirt.io/host-port';

/** On a Node of the embedded cluster: whether it runs, is stopped or killed; and what somebody wants it to be. */
export const ANNOTATION_NODE_POWER = 'kubevirt.io/embedded-node-power';
export const ANNOTATION_NODE_POWER_WANTED = 'kubevirt.io/embedded-node-power-wanted';

export const FINALIZER_VM_CONTROLLER = 'kubevirt.io/virtualMachineControllerFinalize';
/** On an instance that runs in a launcher of another image than new ones get: empty. */
export const LABEL_OUTDATED_LAUNCHER = 'kubevirt.io/outdatedLauncherImage';
/** On a migration that an upgrade of the installation began. */
export const ANNOTATION_WORKLOAD_UPDATE_MIGRATION = 'kubevirt.io/workloadUpdateMigration';
/** On a migration that a drain began: the node that is left. */
export const ANNOTATION_EVACUATION_MIGRATION = 'kubevirt.io/evacuationMigration';
export const FINALIZER_MIGRATION = 'kubevirt.io/migrationJobFinalize';
export const FINALIZER_VMI = 'kubevirt.io/foregroundDeleteVirtualMachine';

/** On a VirtualMachineSnapshot, its content, its machine while it is taken, and on a VirtualMachineRestore that is not over. */
export const FINALIZER_VM_SNAPSHOT = 'snapshot.kubevirt.io/vmsnapshot-protection';
export const FINALIZER_VM_SNAPSHOT_CONTENT = 'snapshot.kubevirt.io/vmsnapshotcontent-protection';
export const FINALIZER_SNAPSHOT_SOURCE = 'snapshot.kubevirt.io/snapshot-source-protection';
export const FINALIZER_VM_RESTORE = 'snapshot.kubevirt.io/vmrestore-protection';
/** On a VirtualMachineBackup, until its instance has forgotten it. */
export const FINALIZER_VM_BACKUP = 'backup.kubevirt.io/vmbackup-protection';
/** On a machine: the uid of the VirtualMachineRestore that it was last changed by; on a claim, of the one that made it. */
export const ANNOTATION_LAST_RESTORE = 'restore.kubevirt.io/lastRestoreUID';

/** The Pod condition that takes a paused guest out of its Services. */
export const READINESS_GATE_UNPAUSED = 'kubevirt.io/virtual-machine-unpaused';
/** The Pod condition that says what a readiness probe inside the guest says; on Pods of guests that have one. */
export const READINESS_GATE_GUEST = 'kubevirt.io/guest-ready';
/** Where our own components live, embedded and on a cluster. */
export const INSTALL_NAMESPACE = 'kubevirt';
/** What Kubernetes tells of the token of a Pod: the node that the Pod is on. */
export const EXTRA_NODE_NAME = 'authentication.kubernetes.io/node-name';
/** On the record of what a VM was at its start, so that we need not look at the records of other controllers. */
export const LABEL_VM_REVISION = 'kubevirt.io/vm-revision';
/** A virt-handler that was not heard of for longer is lost: five beats. */
export const HEARTBEAT_STALE_AFTER_MS = 5 * 60_000;
/** On a machine that vmctl derived from another: the Pod it belongs to, by uid for who sweeps and by name for who looks. */
export const LABEL_VMCTL_POD_UID = 'kubevirt.io/vmctl-pod-uid';
export const ANNOTATION_VMCTL_POD = 'kubevirt.io/vmctl-pod';
/** And what it was derived from. */
export const ANNOTATION_VMCTL_PROTOTYPE = 'kubevirt.io/vmctl-prototype';

/** What a node with a usable /dev/kvm offers, and a launcher Pod asks for. */
export const RESOURCE_KVM = 'devices.kubevirt.io/kvm';
/** What a node has of network devices for Pods; no launcher of ours asks for them. */
export const RESOURCE_TUN = 'devices.kubevirt.io/tun';
export const RESOURCE_VHOST_NET = 'devices.kubevirt.io/vhost-net';

/** On an instance: its launcher ends with a failure at once, where the installation has the gate for it. For trying what follows. */
export const ANNOTATION_FAIL_FAST = 'kubevirt.io/func-test-virt-launcher-fail-fast';

/** On an instance of a machine: which of its hotplugged volumes its template does not have, as a list in JSON. */
export const ANNOTATION_EPHEMERAL_VOLUMES = 'kubevirt.io/ephemeral-hotplug-volumes';
