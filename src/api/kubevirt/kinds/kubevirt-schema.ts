/** The schema of a KubeVirt object: the configuration of an installation. */
import { foreign, integer, list, mapOf, object, oneOf, optional, text } from '../../schema/dsl.ts';
import { conditionsSchema } from '../condition-schema.ts';
import { configurationSchema } from '../configuration/configuration-schema.ts';

/** What a label can be. */
const label = (what: string) => text(what, { maxLength: 63, pattern: '^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$' });

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
          caRotateInterval: optional(text('The older spelling of ca.duration.')),
          caOverlapInterval: optional(text('The older spelling of ca.renewBefore.')),
          certRotateInterval: optional(text('The older spelling of server.duration.')),
        }),
      ),
    }),
  ),
  imageRegistry: optional(text('What the names of images begin with. That of the operator when it is not set.')),
  imageTag: optional(text('The tag of images. That of the operator when it is not set.')),
  imagePullSecrets: optional(
    list('Secrets of namespace kubevirt with which images are fetched.', object('A Secret.', { name: optional(text('Its name.')) })),
  ),
  productName: optional(label('The product that this is a part of: label app.kubernetes.io/part-of of the components.')),
  productVersion: optional(label('Its version: label app.kubernetes.io/version; ours when it is not set.')),
  productComponent: optional(label('What it is of the product: label app.kubernetes.io/component; kubevirt when it is not set.')),
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
  workloadUpdateStrategy: optional(
    object('What becomes of machines whose launchers are of an older installation. They keep running as they are when it is not set.', {
      workloadUpdateMethods: optional(
        list(
          'How they are brought to the new one: LiveMigrate moves those that can be moved, Evict ends the others, which their machines start anew.',
          oneOf('A way.', ['LiveMigrate', 'Evict']),
          { maxItems: 2 },
        ),
      ),
      batchEvictionSize: optional(integer('How many are ended at once; 10 when it is not set.', { minimum: 1, maximum: 10_000 })),
      batchEvictionInterval: optional(
        text('The time between two batches, as in 1m0s, which it is when it is not set.', {
          maxLength: 64,
          pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
        }),
      ),
    }),
  ),
  configuration: optional(configurationSchema),
  customizeComponents: optional(
    object('Changes to the components. For virt-operator.', {
      patches: optional(
        list(
          'Changes to objects of the installation, one after the other.',
          object('One change.', {
            resourceName: text('The name of the object; * for every name.', { minLength: 1, maxLength: 253 }),
            resourceType: text('Its kind, such as Deployment.', { minLength: 1, maxLength: 63 }),
            patch: text('What changes, as JSON.', { maxLength: 65_536 }),
            type: oneOf('Which kind of patch that is.', ['json', 'merge', 'strategic']),
          }),
          { maxItems: 100 },
        ),
      ),
      flags: optional(
        object('Flags of the components, beside those that they have.', {
          api: optional(mapOf('Of virt-api.', text('The value.'))),
          controller: optional(mapOf('Of virt-controller.', text('The value.'))),
          handler: optional(mapOf('Of virt-handler.', text('The value.'))),
        }),
      ),
    }),
  ),
  monitorAccount: optional(text('The account of Prometheus, which may read metrics; prometheus-k8s when only its namespace is named.')),
  monitorNamespace: optional(text('Its namespace; monitoring when only its account is named.')),
  serviceMonitorNamespace: optional(text('Where ServiceMonitors go. Kept: ours are in the namespace of the installation.')),
  imagePullPolicy: optional(oneOf('When images of the components are fetched.', ['Always', 'IfNotPresent', 'Never'])),
});

export const statusSchema = object('What is known of the installation. Written by our components alone.', {
  phase: optional(oneOf('Where the installation is in its life.', ['Deploying', 'Deployed', 'Deleting', 'Deleted'])),
  conditions: optional(conditionsSchema),
  operatorVersion: optional(text('The version of the program that writes this status.')),
  observedKubeVirtVersion: optional(text('The version that runs.')),
  targetKubeVirtVersion: optional(text('The version that is to run.')),
  targetDeploymentID: optional(text('The image of the operator that writes this status.')),
  observedGeneration: optional(integer('The generation that was last acted on.', { format: 'int64' })),
  defaultArchitecture: optional(text('The processor architecture of a machine that does not name one.')),
  outdatedVirtualMachineInstanceWorkloads: optional(integer('Instances that run under an older version.')),
});
