/**
 * What a virt-handler may do to nodes and Pods, beyond what roles can say: change the marks of ours on its own node, and delete launcher Pods there.
 * A node that was taken over reaches no other with the token that it finds. Instances are guarded by our webhook. Pure.
 */
import { EXTRA_NODE_NAME, LABEL_SCHEDULABLE } from '../../api/kubevirt/names.ts';

const NAME = 'kubevirt-handler-own-node';
const ADMISSION = 'admissionregistration.k8s.io/v1';
const OURS = `${LABEL_SCHEDULABLE.split('/')[0]}/`;

const IS_NODE = "request.kind.kind == 'Node'";
const VALIDATIONS: readonly { readonly expression: string; readonly message: string }[] = [
  { expression: `!(${IS_NODE}) || request.name == variables.node`, message: 'a virt-handler may change its own node only' },
  {
    expression: `!(${IS_NODE}) || (object.spec == oldObject.spec && ${unchanged('labels')} && ${unchanged('annotations')})`,
    message: `of a node a virt-handler may change labels and annotations of ${OURS} only`,
  },
  {
    expression: `${IS_NODE} || (has(oldObject.spec.nodeName) && oldObject.spec.nodeName == variables.node)`,
    message: 'a virt-handler may delete Pods of its own node only',
  },
  {
    expression: `${IS_NODE} || (has(oldObject.metadata.labels) && oldObject.metadata.labels[?'kubevirt.io'] == optional.of('virt-launcher'))`,
    message: 'a virt-handler may delete launcher Pods only',
  },
];

/** A policy that the API server itself enforces, and its binding. */
export function renderOwnNodePolicy({ namespace }: { readonly namespace: string }): object[] {
  const metadata = { name: NAME, labels: { 'kubevirt.io': '' } };
  const rule = (resources: readonly string[], operation: string) => ({
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: [operation],
    resources,
  });
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule(['nodes', 'nodes/status'], 'UPDATE'), rule(['pods'], 'DELETE')] },
    matchConditions: [
      { name: 'is-virt-handler', expression: `request.userInfo.username == 'system:serviceaccount:${namespace}:kubevirt-handler'` },
    ],
    // Of a token that is bound to a Pod the API server knows the node.
    variables: [{ name: 'node', expression: `request.userInfo.extra[?'${EXTRA_NODE_NAME}'].orValue([''])[0]` }],
    validations: VALIDATIONS,
  };
  return [
    { apiVersion: ADMISSION, kind: 'ValidatingAdmissionPolicy', metadata, spec },
    {
      apiVersion: ADMISSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: NAME, validationActions: ['Deny'] },
    },
  ];
}

/** What of these does not begin with our name is the same as before. */
function unchanged(field: 'labels' | 'annotations'): string {
  const [now, before] = [`object.metadata.?${field}.orValue({})`, `oldObject.metadata.?${field}.orValue({})`];
  const isOurs = `key.startsWith('${OURS}')`;
  return `${now}.all(key, ${isOurs} || ${before}[?key] == ${now}[?key]) && ${before}.all(key, ${isOurs} || key in ${now})`;
}
