/**
 * What roles cannot say, as policies that the API server itself enforces, and their bindings. Pure.
 *
 *   who            does what                      is refused unless
 *   virt-handler   changes a node                 it is its own, and only marks of ours
 *   virt-handler   deletes a Pod                  it is a launcher on its own node
 *   virt-handler   writes an instance             its token names a node: which instances are its own, our webhook says
 *   anybody else   makes or changes a Pod         it does not claim to be the launcher of an instance, one beside that, or the importer or exporter of a
 *                                                 PVC, or did so before
 *
 * A node that was taken over reaches no other with the token that it finds. A token that names no node is no virt-handler's: the kubelet
 * gives each a token of its Pod, and from Kubernetes 1.30 on, the first to serve policies, that names the node of the Pod.
 */

import { EXPORT_VARIABLE } from '../../api/exporter/exporter.ts';
import { IMPORT_VARIABLE } from '../../api/importer/importer-pod.ts';
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { DATA_VOLUMES } from '../../api/kubevirt/kinds/data-volume.ts';
import { VMIS } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { VM_EXPORTS } from '../../api/kubevirt/kinds/vm-export.ts';
import { EXTRA_NODE_NAME, LABEL_COMPONENT, LABEL_CREATED_BY, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import { ATTACHMENT_COMPONENT } from '../../api/launcher/attachment.ts';
import { LAUNCHER_PROGRAM } from '../../api/launcher/compute.ts';
import { LAUNCHER_VARIABLES } from '../../api/launcher/variables.ts';
import type { KubeObject } from '../../api/meta.ts';

type Policy = {
  readonly name: string;
  readonly resource: { readonly group: string; readonly version: string; readonly plural: string };
  readonly operations: readonly ('CREATE' | 'UPDATE' | 'DELETE')[];
  /** True for whom it is meant, of the name of the user. */
  readonly isFor: (namespace: string) => string;
  readonly variables?: readonly { readonly name: string; readonly expression: string }[];
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
};

const ADMISSION = 'admissionregistration.k8s.io/v1';
const OURS = `${LABEL_SCHEDULABLE.split('/')[0]}/`;
const NODES = { group: '', version: 'v1', plural: 'nodes' };
const PODS = { group: '', version: 'v1', plural: 'pods' };

const ofHandler = {
  isFor: (namespace: string) => `request.userInfo.username == '${userNameOf('virt-handler', namespace)}'`,
  variables: [{ name: 'node', expression: `request.userInfo.?extra[?'${EXTRA_NODE_NAME}'].orValue([''])[0]` }],
};
const NAMES_ITS_NODE = {
  expression: "variables.node != ''",
  message: 'the token of a virt-handler has to name its node: it is that of a Pod, and ServiceAccountTokenPodNodeInfo is on',
};
/** Everything by which somebody may take a Pod for a launcher, an importer, or one of those beside them: each is for virt-controller alone to say. */
const CLAIMS: readonly { readonly what: string; readonly of: (pod: string) => string }[] = [
  // Those that attach volumes, save memory and write backups are controlled by a Pod, as others may be; they are known by this label.
  ...[LAUNCHER_PROGRAM, ATTACHMENT_COMPONENT].map((component) => ({
    what: `the label ${LABEL_COMPONENT}=${component}`,
    of: (pod: string) => `${pod}.metadata.?labels[?'${LABEL_COMPONENT}'].orValue('') == '${component}'`,
  })),
  { what: `the label ${LABEL_CREATED_BY}`, of: (pod) => `'${LABEL_CREATED_BY}' in ${pod}.metadata.?labels.orValue({})` },
  ...[VMIS, DATA_VOLUMES, VM_EXPORTS].map(({ group, kind }) => ({
    what: `a ${kind} as its controller`,
    of: (pod: string) =>
      `${pod}.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == '${kind}' && owner.apiVersion.startsWith('${group}/') && owner.?controller.orValue(false))`,
  })),
  ...[LAUNCHER_VARIABLES.vmi, IMPORT_VARIABLE, EXPORT_VARIABLE].map((name) => ({
    what: `the variable ${name}`,
    of: (pod: string) =>
      `${pod}.spec.containers.exists(container, container.?env.orValue([]).exists(variable, variable.name == '${name}'))`,
  })),
];

const POLICIES: readonly Policy[] = [
  {
    name: 'kubevirt-handler-own-node',
    resource: NODES,
    operations: ['UPDATE'],
    ...ofHandler,
    validations: [
      NAMES_ITS_NODE,
      { expression: 'request.name == variables.node', message: 'a virt-handler may change its own node only' },
      {
        expression: `object.spec == oldObject.spec && ${unchanged('labels')} && ${unchanged('annotations')}`,
        message: `of a node a virt-handler may change labels and annotations of ${OURS} only`,
      },
    ],
  },
  {
    name: 'kubevirt-handler-own-pods',
    resource: PODS,
    operations: ['DELETE'],
    ...ofHandler,
    validations: [
      NAMES_ITS_NODE,
      {
        expression: "oldObject.spec.?nodeName.orValue('') == variables.node",
        message: 'a virt-handler may delete Pods of its own node only',
      },
      {
        expression: `oldObject.metadata.?labels[?'${LABEL_COMPONENT}'].orValue('') == '${LAUNCHER_PROGRAM}'`,
        message: 'a virt-handler may delete launcher Pods only',
      },
    ],
  },
  {
    name: 'kubevirt-handler-own-instances',
    resource: VMIS,
    operations: ['UPDATE'],
    ...ofHandler,
    validations: [NAMES_ITS_NODE],
  },
  {
    name: 'kubevirt-launcher-pods',
    resource: PODS,
    operations: ['CREATE', 'UPDATE'],
    isFor: (namespace) => `request.userInfo.username != '${userNameOf('virt-controller', namespace)}'`,
    validations: CLAIMS.map(({ what, of }) => ({
      expression: `!(${of('object')}) || (oldObject != null && ${of('oldObject')})`,
      message: `launcher and importer Pods are made by virt-controller alone, and no other Pod may have ${what}`,
    })),
  },
];

export function renderValidatingAdmissionPolicies({ namespace }: { readonly namespace: string }): KubeObject[] {
  return POLICIES.flatMap(({ name, resource: { group, version, plural }, operations, isFor, variables, validations }) => {
    const metadata = { name, labels: { 'kubevirt.io': '' } };
    const resourceRules = [{ apiGroups: [group], apiVersions: [version], operations, resources: [plural] }];
    const matchConditions = [{ name: 'is-for-this-user', expression: isFor(namespace) }];
    const spec = {
      failurePolicy: 'Fail',
      matchConstraints: { resourceRules },
      matchConditions,
      ...(variables && { variables }),
      validations,
    };
    return [
      { apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicy', metadata, spec },
      {
        apiVersion: ADMISSION,
        kind: 'ValidatingAdmissionPolicyBinding',
        metadata,
        spec: { policyName: name, validationActions: ['Deny'] },
      },
    ];
  });
}

/** What of these does not begin with our name is the same as before. */
function unchanged(field: 'labels' | 'annotations'): string {
  const [now, before] = [`object.metadata.?${field}.orValue({})`, `oldObject.metadata.?${field}.orValue({})`];
  const isOurs = `key.startsWith('${OURS}')`;
  return `${now}.all(key, ${isOurs} || ${before}[?key] == ${now}[?key]) && ${before}.all(key, ${isOurs} || key in ${now})`;
}
