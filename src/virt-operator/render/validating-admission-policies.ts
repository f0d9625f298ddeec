/**
 * What a virt-handler may do to nodes and Pods, beyond what roles can say: change the marks of ours on its own node, and delete launcher Pods there.
 * A node that was taken over reaches no other with the token that it finds. Instances are guarded by our webhook. Pure.
 */
import { userNameOf } from '../../api/kubevirt/component-accounts.ts';
import { EXTRA_NODE_NAME, LABEL_COMPONENT, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';
import { LAUNCHER_PROGRAM } from '../../api/launcher/compute.ts';

type Policy = {
  readonly name: string;
  readonly resource: string;
  readonly operation: 'UPDATE' | 'DELETE';
  readonly validations: readonly { readonly expression: string; readonly message: string }[];
};

const ADMISSION = 'admissionregistration.k8s.io/v1';
const OURS = `${LABEL_SCHEDULABLE.split('/')[0]}/`;

const POLICIES: readonly Policy[] = [
  {
    name: 'kubevirt-handler-own-node',
    resource: 'nodes',
    operation: 'UPDATE',
    validations: [
      { expression: 'request.name == variables.node', message: 'a virt-handler may change its own node only' },
      {
        expression: `object.spec == oldObject.spec && ${unchanged('labels')} && ${unchanged('annotations')}`,
        message: `of a node a virt-handler may change labels and annotations of ${OURS} only`,
      },
    ],
  },
  {
    name: 'kubevirt-handler-own-pods',
    resource: 'pods',
    operation: 'DELETE',
    validations: [
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
];

/** Policies that the API server itself enforces, and their bindings. */
export function renderValidatingAdmissionPolicies({ namespace }: { readonly namespace: string }): object[] {
  return POLICIES.flatMap(({ name, resource, operation, validations }) => {
    const metadata = { name, labels: { 'kubevirt.io': '' } };
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }];
    const matchConditions = [
      { name: 'is-virt-handler', expression: `request.userInfo.username == '${userNameOf('virt-handler', namespace)}'` },
      // A token that is bound to a Pod names its node, unless a cluster leaves that out: there nothing can be judged.
      { name: 'names-its-node', expression: `request.userInfo.?extra[?'${EXTRA_NODE_NAME}'].hasValue()` },
    ];
    const variables = [{ name: 'node', expression: `request.userInfo.extra['${EXTRA_NODE_NAME}'][0]` }];
    const spec = { failurePolicy: 'Fail', matchConstraints: { resourceRules }, matchConditions, variables, validations };
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
