/** The schema of a KubeVirt object: the configuration of an installation. */
import { foreign, integer, list, mapOf, object, oneOf, optional, text } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';

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

const nodePlacementSchema = object('On which nodes Pods are put.', {
  nodeSelector: optional(mapOf('Labels that a node must have.', text('The value.'))),
  affinity: optional(foreign('As in a Pod; instead of that which keeps replicas on different nodes.')),
  tolerations: optional(foreign<readonly object[]>('As in a Pod; beside those that are always there.', 'array')),
});

const certificateLifeSchema = (what: string) =>
  object(`How long ${what} lives.`, {
    duration: optional(text('From its making to its end, as in 168h.')),
    renewBefore: optional(text('How long before its end a new one is made.')),
  });

export const specSchema = object('What is installed and how it is configured.', {
  certificateRotateStrategy: optional(
    object('When certificates of the components are replaced. They are made by the operator.', {
      selfSigned: optional(
        object('By an authority of its own.', {
          ca: optional(certificateLifeSchema('the authority')),
          server: optional(certificateLifeSchema('a certificate of a component')),
        }),
      ),
    }),
  ),
  imageRegistry: optional(text('What the names of images begin with. That of the operator when it is not set.')),
  imageTag: optional(text('The tag of images. That of the operator when it is not set.')),
  imagePullSecrets: optional(
    list('Secrets of namespace kubevirt with which images are fetched.', object('A Secret.', { name: optional(text('Its name.')) })),
  ),
  infra: optional(
    object('virt-api and virt-controller.', {
      replicas: optional(integer('How many of each; 2 when it is not set.', { minimum: 1, maximum: 100 })),
      nodePlacement: optional(nodePlacementSchema),
    }),
  ),
  workloads: optional(object('virt-handler.', { nodePlacement: optional(nodePlacementSchema) })),
  uninstallStrategy: optional(
    oneOf('Whether this object may be deleted while there are machines; BlockUninstallIfWorkloadsExist when it is not set.', [
      'BlockUninstallIfWorkloadsExist',
      'RemoveWorkloads',
    ]),
  ),
  configuration: optional(configurationSchema),
  imagePullPolicy: optional(oneOf('When images of the components are fetched.', ['Always', 'IfNotPresent', 'Never'])),
});

export const statusSchema = object('What is known of the installation. Written by our components alone.', {
  phase: optional(oneOf('Where the installation is in its life.', ['Deploying', 'Deployed', 'Deleting', 'Deleted'])),
  conditions: optional(conditionsSchema),
  operatorVersion: optional(text('The version of the program that writes this status.')),
  observedKubeVirtVersion: optional(text('The version that runs.')),
  targetKubeVirtVersion: optional(text('The version that is to run.')),
  observedGeneration: optional(integer('The generation that was last acted on.', { format: 'int64' })),
  defaultArchitecture: optional(text('The processor architecture of a machine that does not name one.')),
  outdatedVirtualMachineInstanceWorkloads: optional(integer('Instances that run under an older version.')),
});
