/** How a guest ended, in one word: `status.reason` of an instance, and of the condition LastShutdown of its machine. */

/** What an instance says, from whoever saw its end. */
export type VmiEndingReason =
  /** virt-handler: of a guest that ran. */
  | 'GuestHung'
  | 'GuestPanicked'
  | 'LivenessProbeFailed'
  | 'QEMUExited'
  /** virt-handler: somebody deleted the Pod, or drained the node, and the guest powered off. */
  | 'PodDeleted'
  /** virt-handler: its memory was saved. */
  | 'Suspended'
  /** virt-handler: it did not power off in time. */
  | 'GracePeriodExpired'
  /** virt-handler: before it ran. */
  | 'DeletedBeforeStart'
  | 'LauncherFailed'
  | 'LauncherUnresponsive'
  /** virt-controller: what virt-handler did not see. */
  | 'NodeUnresponsive'
  | 'PodEnded'
  | 'PodGone'
  | 'PodTerminating';

/** What its machine tells afterwards: the same, or who had asked for the end. */
export type LastShutdownReason = VmiEndingReason | 'GuestFailed' | 'GuestShutdown' | 'InstanceDeleted' | 'Requested' | 'StartFailed';
