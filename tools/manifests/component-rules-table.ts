/** What components may do with kinds that are not ours; what they do with ours is in the records of the kinds. */
import type { Component } from '../../src/api/kind.ts';
import { type PolicyRule, rule } from './policy-rule.ts';

/** Who may read the metrics of a component is asked of the API server. */
const METRICS_ACCESS = [
  rule('authentication.k8s.io', 'tokenreviews', ['create'], 'Whose token is shown for /metrics.'),
  rule('authorization.k8s.io', 'subjectaccessreviews', ['create'], 'Whether the caller may do what was asked for, or read /metrics.'),
];

/** In the whole cluster. */
export const CLUSTER_RULES: Readonly<Record<Component, readonly PolicyRule[]>> = {
  'virt-api': [
    ...METRICS_ACCESS,
    rule(
      '',
      'persistentvolumeclaims',
      ['get'],
      'Which instance type and preference go with a disk: labels of its PVC. Whether one is to have an upload, or can take a memory dump.',
    ),
    rule('', 'nodes', ['get'], 'Whether a machine leaves its node by a taint, when its evacuation is to be cancelled.'),
    rule('', 'pods', ['get'], 'Where the Pod is that takes an upload, or serves an export.'),
    rule('apps', 'controllerrevisions', ['get'], 'The copies of instance types and preferences that machines are made with.'),
  ],
  'virt-controller': [
    ...METRICS_ACCESS,
    rule(
      '',
      'persistentvolumeclaims',
      ['get', 'list', 'watch', 'create', 'patch', 'delete'],
      'Which wait for an upload. How large a new disk on a PVC is and whether it has grown, whether the PVC is there, and that its disk has been made. Restores make PVCs, and delete those of theirs that come to no use.',
    ),
    rule('', 'services', ['get', 'create'], 'The Service of the Pod that serves an export.'),
    rule('', 'secrets', ['create'], 'The token of an export that names none. It cannot read them.'),
    rule('', 'namespaces', ['get'], 'Whether a MigrationPolicy is for a namespace, by its labels.'),
    rule('snapshot.storage.k8s.io', 'volumesnapshots', ['get', 'create', 'delete'], 'Snapshots of the PVCs of a machine.'),
    rule('storage.k8s.io', 'storageclasses', ['list'], 'Whether the PVCs of a restore are bound before their machine starts.'),
    rule('subresources.kubevirt.io', 'virtualmachineinstances/freeze', ['update'], 'The guest is still while a snapshot is taken.'),
    rule('subresources.kubevirt.io', 'virtualmachineinstances/unfreeze', ['update'], 'And continues afterwards.'),
    rule(
      'subresources.kubevirt.io',
      'virtualmachineinstances/pause',
      ['update'],
      'It is paused where a disk has to be copied and is written meanwhile.',
    ),
    rule('subresources.kubevirt.io', 'virtualmachineinstances/unpause', ['update'], 'And continues afterwards, too.'),
    rule(
      '',
      'pods',
      ['get', 'list', 'watch', 'create', 'delete'],
      'Launcher Pods, those that attach volumes, and (get) the Pods of vmctl, whose machines go with them.',
    ),
    rule(
      'apps',
      'controllerrevisions',
      ['get', 'list', 'watch', 'create', 'delete'],
      'What a machine was when it was started, and the instance type and preference that it is made with.',
    ),
    rule(
      '',
      'nodes',
      ['list', 'watch', 'patch'],
      'Whether the virt-handler of a node is still heard of; one that is silent gets no more guests.',
    ),
    rule('', 'pods/status', ['patch'], 'The readiness gate of launcher Pods.'),
    rule('', 'events', ['get', 'create', 'patch']),
  ],
  'virt-handler': [
    ...METRICS_ACCESS,
    rule('', 'services', ['list', 'watch'], 'The ports of Services that select a guest are opened in its QEMU.'),
    rule('', 'pods', ['get', 'list', 'watch', 'delete'], 'It deletes a launcher Pod only when QEMU in it no longer answers.'),
    rule('', 'nodes', ['get', 'patch'], 'Heartbeat and the label that makes a node fit for machines.'),
    rule('', 'events', ['get', 'create', 'patch']),
  ],
};

/** In the namespace of the installation. */
export const OWN_NAMESPACE_RULES: Readonly<
  Partial<Record<Component, { readonly because: string; readonly rules: readonly PolicyRule[] }>>
> = {
  'virt-api': {
    because: 'virt-api finds the virt-handler of a node by its Pod.',
    rules: [rule('', 'pods', ['get', 'list', 'watch'])],
  },
  'virt-controller': {
    because:
      'One controller of several works at a time: the one that holds the lease. Who vouches for virt-api, for Pods that take uploads of it.',
    rules: [rule('coordination.k8s.io', 'leases', ['get', 'create', 'update']), rule('', 'configmaps', ['get'])],
  },
};

/** Roles that Kubernetes itself has. */
export const FOREIGN_ROLES: Readonly<
  Partial<Record<Component, { readonly because: string; readonly namespace: string; readonly role: string; readonly suffix: string }>>
> = {
  'virt-api': {
    because: "The certificate authority by which virt-api knows that a request comes from the API server. The role is Kubernetes' own.",
    namespace: 'kube-system',
    role: 'extension-apiserver-authentication-reader',
    suffix: 'authentication-reader',
  },
};
