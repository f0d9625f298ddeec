/** The schema of a KubeVirt object: the configuration of an installation. */
import { boolean, integer, list, object, oneOf, optional, text } from '../schema/dsl.ts';
import { conditionsSchema } from './condition-schema.ts';

const configurationSchema = object('How machines are run.', {
  developerConfiguration: optional(
    object('Settings for trying things out.', {
      useEmulation: optional(boolean('Run guests without hardware virtualisation even where there is some.')),
      featureGates: optional(list('Features to switch on. Names that mean nothing here are kept and ignored.', text('The name.'))),
      disabledFeatureGates: optional(list('Features to switch off.', text('The name.'))),
    }),
  ),
  vmRolloutStrategy: optional(
    oneOf('Stage: changes of a machine wait for its next start, also when not given. LiveUpdate: what can change at once does.', [
      'Stage',
      'LiveUpdate',
    ]),
  ),
});

export const kubeVirtSpecSchema = object('What is installed and how it is configured.', {
  configuration: optional(configurationSchema),
  imagePullPolicy: optional(oneOf('When images of the components are fetched.', ['Always', 'IfNotPresent', 'Never'])),
  imageRegistry: optional(text('Where images of the components come from.')),
  imageTag: optional(text('Which version of them.')),
  uninstallStrategy: optional(
    oneOf('What happens to machines when the installation is removed.', ['RemoveWorkloads', 'BlockUninstallIfWorkloadsExist']),
  ),
  workloadUpdateStrategy: optional(
    object('How running machines get new components.', {
      workloadUpdateMethods: optional(list('The ways that may be taken, the gentlest first.', oneOf('One way.', ['LiveMigrate', 'Evict']))),
      batchEvictionSize: optional(integer('How many machines at a time.')),
      batchEvictionInterval: optional(text('How long to wait between them, such as 1m0s.')),
    }),
  ),
});

export const kubeVirtStatusSchema = object('What is known of the installation. Written by our components alone.', {
  phase: optional(oneOf('Where the installation is in its life.', ['Deploying', 'Deployed', 'Deleting', 'Deleted'])),
  conditions: optional(conditionsSchema),
  operatorVersion: optional(text('The version of the program that writes this status.')),
  observedKubeVirtVersion: optional(text('The version that runs.')),
  targetKubeVirtVersion: optional(text('The version that is to run.')),
  observedGeneration: optional(integer('The generation that was last acted on.', { format: 'int64' })),
  defaultArchitecture: optional(text('The processor architecture of a machine that does not name one.')),
  outdatedVirtualMachineInstanceWorkloads: optional(integer('Instances that run under an older version.')),
});
