/** Every reason for which one of our programs records an event: people grep for them, and tools select by them. */

/** What Kubernetes calls it, for what the embedded cluster does in its place. */
export type KubernetesEventReason =
  | 'BackOff'
  | 'BackoffLimitExceeded'
  | 'ClaimLost'
  | 'Completed'
  | 'DeadlineExceeded'
  | 'ErrImageNeverPull'
  | 'ExternalProvisioning'
  | 'Failed'
  | 'FailedBinding'
  | 'FailedCreatePodSandBox'
  | 'FailedMount'
  | 'FailedPostStartHook'
  | 'FailedPreStopHook'
  | 'FailedScheduling'
  | 'InspectFailed'
  | 'FailedGetResourceMetric'
  | 'JobAlreadyActive'
  | 'Killing'
  | 'MissSchedule'
  | 'NodeNotReady'
  | 'NodePortTaken'
  | 'OwnerRefInvalidNamespace'
  | 'Preempted'
  | 'ProvisioningFailed'
  | 'ProvisioningSucceeded'
  | 'Pulled'
  | 'Pulling'
  | 'Resumed'
  | 'ScalingReplicaSet'
  | 'Scheduled'
  | 'Started'
  | 'SuccessfulRescale'
  | 'Suspended'
  | 'TaintManagerEviction'
  | 'Unhealthy';

/** A controller could not do what it wanted, because the API server refused it. */
export type RefusalEventReason = 'FailedBinding' | 'FailedCreate' | 'FailedDelete' | 'FailedReconcile' | 'FailedUpdate';

/** What happened to a machine; as in KubeVirt where that has it. */
export type KubeVirtEventReason =
  | 'AccessCredentialsSyncFailed'
  | 'AccessCredentialsSyncSuccess'
  | 'Created'
  | 'Deleted'
  | 'FailedPvcNotFound'
  | 'GuestHung'
  | 'GuestPanicked'
  | 'IOerror'
  | 'ImageStandIn'
  | 'NodeUnresponsive'
  | 'Override'
  | 'PrototypeMissing'
  | 'ShuttingDown'
  | 'Started'
  | 'Stopped'
  | 'SuccessfulCreate'
  | 'SuccessfulDelete'
  | 'SuccessfulPaused'
  | 'SuccessfulResumed'
  | 'SuccessfulUpdate'
  | 'Unhealthy';

export type EventReason = KubernetesEventReason | RefusalEventReason | KubeVirtEventReason;
