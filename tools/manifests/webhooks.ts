/** deploy/webhooks.yaml: what the API server asks virt-api about before it writes. */
import type { Component, KindRecord } from '../../src/api/kind.ts';
import { userNameOf } from '../../src/api/kubevirt/component-accounts.ts';
import { INSTALL_NAMESPACE } from '../../src/api/kubevirt/names.ts';
import { yamlText } from './yaml-text.ts';

const HEADER = `Admission of our kinds by virt-api. The certificate authority (caBundle) is made at installation and filled in there.
Only objects of our kinds are asked about, so nothing that virt-api itself needs to start can wait for it; and the deletion of their definitions, \
which continues when virt-api is not there.
What virt-controller writes is not asked about: it would be let pass, and each phase of a start would wait for it, or for a virt-api that is away. \
A virt-handler is believed about the instances of its own node alone, so it is asked about.
Instances have no status subresource: every write of them passes here, and the status that a user sends is put back.`;
const ADMISSION = 'admissionregistration.k8s.io/v1';
const AFTER = { matchPolicy: 'Equivalent', sideEffects: 'None', timeoutSeconds: 10, admissionReviewVersions: ['v1'] };

/** The text of deploy/webhooks.yaml. */
export function webhooks(kinds: readonly KindRecord[]): string {
  return yamlText(HEADER, [
    configuration('MutatingWebhookConfiguration', 'virt-api-mutator', mutatingWebhooks(kinds)),
    configuration('ValidatingWebhookConfiguration', 'virt-api-validator', [...validatingWebhooks(kinds), DEFINITIONS, EVICTIONS]),
  ]);
}

/** A webhook for every kind that is completed. */
export function mutatingWebhooks(kinds: readonly KindRecord[]): object[] {
  return kinds.flatMap((kind) => (kind.admission?.mutate ? [webhook(kind, 'mutate', kind.admission.mutate.exceptUpdatesBy)] : []));
}

/** A webhook for every kind. */
export function validatingWebhooks(kinds: readonly KindRecord[]): object[] {
  return kinds.map((kind) => webhook(kind, 'validate', kind.admission?.validate?.exceptUpdatesBy));
}

function webhook(kind: KindRecord, verb: 'mutate' | 'validate', spared: readonly Component[] = []): object {
  const { group, plural, versions, isNamespaced } = kind;
  return {
    name: `${plural}-${verb === 'mutate' ? 'mutator' : 'validator'}.${group}`,
    clientConfig: clientConfig(`/${verb}/${plural}`),
    rules: [
      {
        operations: ['CREATE', 'UPDATE'],
        apiGroups: [group],
        apiVersions: versions,
        resources: [plural],
        scope: isNamespaced ? 'Namespaced' : 'Cluster',
      },
    ],
    ...(spared.length > 0 && { matchConditions: [notUpdatedBy(spared)] }),
    failurePolicy: 'Fail',
    ...AFTER,
  };
}

/** On a cluster it spares calls; a server that does not evaluate it asks more often, and gets the same answers. */
function notUpdatedBy(components: readonly Component[]): object {
  const names = components.map((component) => `'${userNameOf(component)}'`);
  const isOne = names.length === 1 ? `== ${names[0]}` : `in [${names.join(', ')}]`;
  return {
    name: components.length === 1 ? `not-by-${components[0]}` : 'not-by-controllers',
    expression: `!(request.operation == 'UPDATE' && request.userInfo.username ${isOne})`,
  };
}

/** With a definition go all objects of its kind. */
const DEFINITIONS = {
  name: 'customresourcedefinitions-validator.kubevirt.io',
  clientConfig: clientConfig('/validate/customresourcedefinitions'),
  rules: [
    {
      operations: ['DELETE'],
      apiGroups: ['apiextensions.k8s.io'],
      apiVersions: ['v1'],
      resources: ['customresourcedefinitions'],
      scope: 'Cluster',
    },
  ],
  objectSelector: { matchExpressions: [{ key: 'kubevirt.io', operator: 'Exists' }] },
  failurePolicy: 'Ignore',
  ...AFTER,
};

/** Of launcher Pods and those that attach volumes, by the names that all of them have. When virt-api is away, nodes can be drained all the same. */
const EVICTIONS = {
  name: 'virt-launcher-evictions.kubevirt.io',
  clientConfig: clientConfig('/validate/evictions'),
  rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['pods/eviction'], scope: 'Namespaced' }],
  matchConditions: [
    { name: 'of-launchers', expression: "request.name.startsWith('virt-launcher-') || request.name.startsWith('hp-volume-')" },
  ],
  failurePolicy: 'Ignore',
  ...AFTER,
  sideEffects: 'NoneOnDryRun',
};

function clientConfig(path: string): object {
  return { service: { name: 'virt-api', namespace: INSTALL_NAMESPACE, port: 443, path } };
}

function configuration(kind: string, name: string, ofKinds: readonly object[]): object {
  return { apiVersion: ADMISSION, kind, metadata: { name, labels: { 'kubevirt.io': name } }, webhooks: ofKinds };
}
