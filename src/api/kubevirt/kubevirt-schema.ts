/** The schema of a KubeVirt object: the configuration of an installation. */
import { integer, list, object, oneOf, optional, text } from '../schema/dsl.ts';
import { conditionsSchema } from './condition-schema.ts';

const configurationSchema = object('How machines are run.', {
  developerConfiguration: optional(
    object('Settings for trying things out.', {
      featureGates: optional(
        list('Features to switch on. What is here is always on, so the names are kept and change nothing.', text('The name.')),
      ),
      disabledFeatureGates: optional(list('Features to switch off. Kept, too, and without effect.', text('The name.'))),
    }),
  ),
  vmRolloutStrategy: optional(oneOf('When a change of a machine reaches its guest. Stage: at its next start.', ['Stage'])),
});

export const kubeVirtSpecSchema = object('What is installed and how it is configured.', {
  configuration: optional(configurationSchema),
  imagePullPolicy: optional(oneOf('When images of the components are fetched.', ['Always', 'IfNotPresent', 'Never'])),
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
