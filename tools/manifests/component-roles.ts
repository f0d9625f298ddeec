/** deploy/rbac-components.yaml: the accounts of our components, and what each may do. */
import type { Component, KindRecord } from '../../src/api/kind.ts';
import { COMPONENT_ACCOUNTS } from '../../src/api/kubevirt/component-accounts.ts';
import { INSTALL_NAMESPACE } from '../../src/api/kubevirt/names.ts';
import { CLUSTER_RULES, FOREIGN_ROLES, OWN_NAMESPACE_RULES } from './component-rules-table.ts';
import { mergeRules, type PolicyRule, rule } from './policy-rule.ts';
import { yamlText } from './yaml-text.ts';

const HEADER =
  "What each component may do, and nothing else. A rule without a comment is there because the component's main loop needs it.";
const GROUP = 'rbac.authorization.k8s.io';
const RBAC = `${GROUP}/v1`;
const COMPONENTS = Object.keys(CLUSTER_RULES) as readonly Component[]; // the keys of the table
/** The order in which the parts of objects are named. */
const PARTS = [undefined, 'status', 'finalizers'] as const;
const KEEP = 'Admission: there is one KubeVirt in a cluster, and no definition goes while there are objects of it.';

/** The text of deploy/rbac-components.yaml. */
export function componentRoles(kinds: readonly KindRecord[]): string {
  const accounts = COMPONENTS.map((component) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: inside(COMPONENT_ACCOUNTS[component]),
  }));
  return yamlText(HEADER, [...accounts, ...COMPONENTS.flatMap((component) => rolesOf(component, kinds))]);
}

/** What a component may do in the whole cluster. */
export function clusterRulesOf(component: Component, kinds: readonly KindRecord[]): PolicyRule[] {
  const ofKinds = PARTS.flatMap((part) =>
    kinds.flatMap(({ group, plural, access }) =>
      (access[component] ?? [])
        .filter((each) => each.part === part)
        .map(({ verbs, because }) => rule(group, part ? `${plural}/${part}` : plural, verbs, because)),
    ),
  );
  const listed = kinds.filter(({ access }) => !access['virt-api']?.some(({ part, verbs }) => !part && verbs.includes('list')));
  const kept = component === 'virt-api' ? listed.map(({ group, plural }) => rule(group, plural, ['list'], KEEP)) : [];
  return mergeRules([...ofKinds, ...kept, ...CLUSTER_RULES[component]]);
}

function rolesOf(component: Component, kinds: readonly KindRecord[]): object[] {
  const account = COMPONENT_ACCOUNTS[component];
  const own = OWN_NAMESPACE_RULES[component];
  const foreign = FOREIGN_ROLES[component];
  const everywhere = { name: account, labels: { 'kubevirt.io': '' } };
  const roles: object[] = [
    { apiVersion: RBAC, kind: 'ClusterRole', metadata: everywhere, rules: clusterRulesOf(component, kinds) },
    { apiVersion: RBAC, kind: 'ClusterRoleBinding', metadata: everywhere, ...binding('ClusterRole', account, account) },
  ];
  if (own)
    roles.push(
      { because: own.because, apiVersion: RBAC, kind: 'Role', metadata: inside(account), rules: own.rules },
      { apiVersion: RBAC, kind: 'RoleBinding', metadata: inside(account), ...binding('Role', account, account) },
    );
  if (foreign) {
    const metadata = inside(`${account}-${foreign.suffix}`, foreign.namespace);
    roles.push({ because: foreign.because, apiVersion: RBAC, kind: 'RoleBinding', metadata, ...binding('Role', foreign.role, account) });
  }
  return roles;
}

function inside(name: string, namespace = INSTALL_NAMESPACE): object {
  return { name, namespace, labels: { 'kubevirt.io': '' } };
}

function binding(kind: 'ClusterRole' | 'Role', role: string, account: string): object {
  return {
    roleRef: { apiGroup: GROUP, kind, name: role },
    subjects: [{ kind: 'ServiceAccount', name: account, namespace: INSTALL_NAMESPACE }],
  };
}
