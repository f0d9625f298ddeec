/** What a KubeVirt object says of its installation: the same words for the embedded cluster and for one that an operator keeps. Pure. */
import type { InstallationProblemReason, InstallationReason, KubeVirtConditions } from '../../api/kubevirt/condition-reasons.ts';
import { type NewCondition, withCondition } from '../../api/kubevirt/conditions.ts';
import { configurationCauses } from '../../api/kubevirt/configuration/configuration-causes.ts';
import { customizeCauses } from '../../api/kubevirt/configuration/customize-causes.ts';
import type { KubeVirt, KubeVirtStatus } from '../../api/kubevirt/kinds/kubevirt.ts';
import { causesText } from '../../base/causes.ts';

export type InstallationStage = 'deploying' | 'ready' | 'updating' | 'degraded' | 'unavailable' | 'deleting';

/** What keeps an installation from the next stage; the message says how to fix it. */
export type Problem = { readonly reason: InstallationProblemReason; readonly message: string };

export type Installation = {
  readonly stage: InstallationStage;
  /** The version of whoever writes the status; it is the one to install, too. */
  readonly version: string;
  /** The image of whoever writes the status, where it comes from one: by it an installer knows that the new operator has looked. */
  readonly operatorImage?: string;
  /** The version that all components have; undefined while none runs. */
  readonly runningVersion?: string;
  /** Of a machine that names none: amd64. */
  readonly architecture: string;
  readonly problem?: Problem | undefined;
  readonly now: number;
};

/** What is wrong with the configuration, in one sentence; undefined when it is in force as it is written. */
function configurationProblem({ spec }: KubeVirt): Problem | undefined {
  const causes = [...configurationCauses(spec.configuration), ...customizeCauses(spec)];
  if (causes.length === 0) return undefined;
  return { reason: 'InvalidConfiguration', message: `The last good configuration stays in force: ${causesText(causes)}` };
}

/** The four conditions, and what each of them is, as a letter: T or F. */
const TYPES = ['Created', 'Available', 'Progressing', 'Degraded'] as const satisfies (keyof KubeVirtConditions)[];
type Row = readonly [phase: NonNullable<KubeVirtStatus['phase']>, flags: string, reason: InstallationReason, message: string];
const STAGES: Readonly<Record<InstallationStage, Row>> = {
  deploying: ['Deploying', 'FFTF', 'DeploymentInProgress', 'The components are being started.'],
  ready: ['Deployed', 'TTFF', 'AllComponentsReady', 'All components are ready.'],
  updating: ['Deployed', 'TTTT', 'UpdateInProgress', 'The components are being replaced by those of another version.'],
  degraded: ['Deployed', 'TTFT', 'ComponentsNotReady', 'Each component works, but not all of their Pods are ready.'],
  unavailable: ['Deployed', 'TFFT', 'ComponentsNotReady', 'A component has no Pod that is ready.'],
  deleting: ['Deleting', 'TFFT', 'DeletionInProgress', 'The components are being removed.'],
};

/** The status that follows; conditions that did not change keep their time. */
export function deriveKubeVirtStatus(kubeVirt: KubeVirt, installation: Installation): KubeVirtStatus {
  const { metadata, status } = kubeVirt;
  const { version, operatorImage, runningVersion, architecture, now } = installation;
  const unread = configurationProblem(kubeVirt);
  // A machine is run as it was before: that is less than was asked for, and no more than that.
  const stage = unread && installation.stage === 'ready' ? 'degraded' : installation.stage;
  const [phase, flags, ...words] = STAGES[stage];
  const { reason, message } = installation.problem ?? unread ?? { reason: words[0], message: words[1] };
  const wanted = TYPES.map((type, index): NewCondition<KubeVirtConditions> => {
    const isTrue = flags[index] === 'T';
    return type === 'Created' && isTrue
      ? { type, status: 'True', reason: 'AllResourcesCreated', message: 'All resources were created.' }
      : ({ type, status: isTrue ? 'True' : 'False', reason, message } as NewCondition<KubeVirtConditions>); // all four have these reasons
  });
  const conditions = wanted.reduce((list, each) => withCondition<KubeVirtConditions>(list, each, now), status?.conditions ?? []);
  return {
    ...status,
    phase,
    conditions: [...conditions],
    operatorVersion: version,
    targetKubeVirtVersion: version,
    ...(operatorImage !== undefined && { targetDeploymentID: operatorImage }),
    ...(runningVersion !== undefined && { observedKubeVirtVersion: runningVersion }),
    ...(metadata.generation !== undefined && { observedGeneration: metadata.generation }),
    defaultArchitecture: architecture,
    outdatedVirtualMachineInstanceWorkloads: status?.outdatedVirtualMachineInstanceWorkloads ?? 0, // virt-controller counts them
  };
}
