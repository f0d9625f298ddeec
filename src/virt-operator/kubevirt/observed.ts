/** Everything that is looked at to decide about an installation. */
import type { KubeVirt } from '../../api/kubevirt/kinds/kubevirt.ts';
import type { KubeObject } from '../../api/meta.ts';
import type { Installation, Problem } from '../status/status.ts';

export type Pairing = {
  readonly desired: KubeObject;
  readonly isStored: boolean;
  readonly isCurrent: boolean;
  /** Asked by the API server, which fails every request that it cannot pass on. */
  readonly needsVirtApi: boolean;
};
export type InstallationObserved = {
  readonly kubeVirt: KubeVirt;
  readonly isTheOne: boolean;
  readonly pairings: readonly Pairing[];
  /** Objects of ours that are stored, in the order in which they were put in place. */
  readonly stored: readonly KubeObject[];
  /** Stored, and not wanted any more. */
  readonly surplus: readonly KubeObject[];
  readonly isVirtApiWorking: boolean;
  readonly installation: Omit<Installation, 'problem'>;
  readonly problem?: Problem | undefined;
  /** Why this cluster cannot be served at all. */
  readonly unsupported?: Problem | undefined;
  /** Looked at only when it is being deleted. */
  readonly virtualMachines: readonly KubeObject[];
  readonly markedNodes: readonly KubeObject[];
  /** When certificates want to be looked at again. */
  readonly lookAgainAfterMs: number;
};
