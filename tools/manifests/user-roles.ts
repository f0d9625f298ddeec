/** deploy/rbac-users.yaml: what people may do with machines, by the records of the kinds and the table of subresources. */

import { UPLOAD_TOKENS } from '../../src/api/importer/upload.ts';
import type { KindRecord } from '../../src/api/kind.ts';
import { SUBRESOURCES_GROUP } from '../../src/api/kubevirt/subresources.ts';
import { EXPAND_VM_SPEC, type Subresource, type SubresourceRole } from '../../src/api/kubevirt/subresources-table.ts';
import { USUAL_ROLES } from '../../src/api/kubevirt/usual-roles.ts';
import { mergeRules, type PolicyRule, rule } from './policy-rule.ts';
import { yamlText } from './yaml-text.ts';

const HEADER = `What people may do with machines. The first three join the roles of the same name that Kubernetes has for its own kinds, \
so that whoever may edit Pods in a namespace may edit machines there.`;
const GROUP = 'rbac.authorization.k8s.io';
const OUR_GROUP = 'kubevirt.io';
const EITHER = 'By GET too, as published; virt-api asks for `update` again before it does anything.';

/** Each holds what those before it hold. */
const ROLES = ['view', 'edit', 'admin'] as const satisfies readonly SubresourceRole[];
type JoiningRole = (typeof ROLES)[number];

/** The text of deploy/rbac-users.yaml. */
export function userRoles(kinds: readonly KindRecord[], subresources: readonly Subresource[]): string {
  const joining = ROLES.map((role) =>
    clusterRole(role, rulesOfRole(role, kinds, subresources), { [`${GROUP}/aggregate-to-${role}`]: 'true' }),
  );
  return yamlText(HEADER, [...joining, migrate(subresources), ...everybody(kinds)]);
}

/** What one of the three may do. */
export function rulesOfRole(role: JoiningRole, kinds: readonly KindRecord[], subresources: readonly Subresource[]): PolicyRule[] {
  const isIn = (least: SubresourceRole) => least !== 'migrate' && ROLES.indexOf(least) <= ROLES.indexOf(role);
  return mergeRules([
    ...kinds.filter(({ roles }) => roles[role].length > 0).map(({ group, plural, roles }) => rule(group, plural, roles[role])),
    ...kinds.flatMap(({ group, plural, subresources: { scale } = {} }) =>
      scale && role !== 'view' ? [rule(group, `${plural}/scale`, ['get', 'update', 'patch'])] : [],
    ),
    ...subresources
      .filter((each) => isIn(each.role))
      .flatMap(({ resource, subresource, verbs }) =>
        grantedAs(resource, subresource, subresources).map((name) =>
          rule(SUBRESOURCES_GROUP, name, verbs, verbs.length > 1 ? EITHER : undefined),
        ),
      ),
    ...(isIn('edit') ? [rule(UPLOAD_TOKENS.group, UPLOAD_TOKENS.plural, ['create'])] : []),
    ...(isIn(EXPAND_VM_SPEC.role) ? [rule(SUBRESOURCES_GROUP, EXPAND_VM_SPEC.resource, EXPAND_VM_SPEC.verbs)] : []),
  ]);
}

/** The API server asks by the first part of the path (`evacuate` of `evacuate/cancel`), virt-api by the whole of it; a first part that is one of its own has its own role. */
function grantedAs(resource: string, subresource: string, all: readonly Subresource[]): string[] {
  const [first = ''] = subresource.split('/');
  const isOwn = all.some((each) => each.resource === resource && each.subresource === first);
  return [...(isOwn ? [] : [`${resource}/${first}`]), `${resource}/${subresource}`];
}

function migrate(subresources: readonly Subresource[]): object {
  return {
    because: `Whoever may move machines between nodes. It joins no other role: a move takes of the node that it goes to, so it is given on purpose.`,
    ...clusterRole('migrate', [
      ...subresources
        .filter(({ role }) => role === 'migrate')
        .map(({ resource, subresource, verbs }) => rule(SUBRESOURCES_GROUP, `${resource}/${subresource}`, verbs)),
      rule('kubevirt.io', 'virtualmachineinstancemigrations', USUAL_ROLES.admin),
    ]),
  };
}

/** Kinds of other groups have roles of their own, by the name that KubeVirt gives them. */
function everybody(kinds: readonly KindRecord[]): object[] {
  const open = kinds.filter(({ roles }) => roles.everybody);
  const rulesOf = (isIn: (group: string) => boolean) =>
    open.flatMap(({ group, plural, roles }) => (roles.everybody && isIn(group) ? [rule(group, plural, roles.everybody)] : []));
  const ofGroup = ['version', 'guestfs'].map((resource) => rule(SUBRESOURCES_GROUP, resource, ['get', 'list']));
  const others = [...new Set(open.map(({ group }) => group))].filter((group) => group !== OUR_GROUP);
  return [
    ...bound(
      'Anybody with a name may ask which version this is and how it is configured.',
      clusterRole('default', mergeRules([...ofGroup, ...rulesOf((group) => group === OUR_GROUP)])),
    ),
    ...others.flatMap((group) =>
      bound(
        'Anybody with a name may read what machines of every namespace can be made with.',
        clusterRole('view', mergeRules(rulesOf((each) => each === group)), {}, group),
      ),
    ),
  ];
}

function bound(because: string, role: ReturnType<typeof clusterRole>): object[] {
  const { apiVersion, metadata } = role;
  const roleRef = { apiGroup: GROUP, kind: role.kind, name: metadata.name };
  const subjects = [{ apiGroup: GROUP, kind: 'Group', name: 'system:authenticated' }];
  return [
    { because, ...role },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
  ];
}

function clusterRole(name: string, rules: readonly PolicyRule[], labels = {}, group = OUR_GROUP) {
  const metadata = { name: `${group}:${name}`, labels: { 'kubevirt.io': '', ...labels } };
  return { apiVersion: `${GROUP}/v1`, kind: 'ClusterRole', metadata, rules };
}
