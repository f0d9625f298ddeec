/** Roles and bindings: rules that can mean something, a role that stays the same, subjects that are somebody. */

import { invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { deepEqual, isObject, type JsonObject } from '../../../base/json.ts';
import type { AnyObject, Strategy } from '../types/resource-type.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** `hasUrls`: only cluster-wide roles can speak of paths. */
export function roleStrategy({ hasUrls }: { hasUrls: boolean }): Strategy {
  return { validate: (object) => objectsIn(object['rules']).flatMap((rule, index) => validateRule(rule, `rules[${index}]`, hasUrls)) };
}

/** `kinds`: what the binding may refer to. */
export function bindingStrategy(kinds: readonly string[]): Strategy {
  return {
    prepareCreate: withGroups,
    prepareUpdate: (object) => withGroups(object),
    validate: (object, old) => [
      ...(old && !deepEqual(object['roleRef'], old['roleRef'])
        ? [invalidCause('roleRef', object['roleRef'], 'cannot change roleRef')]
        : []),
      ...validateRoleRef(isObject(object['roleRef']) ? object['roleRef'] : {}, kinds),
      ...objectsIn(object['subjects']).flatMap((subject, index) => validateSubject(subject, `subjects[${index}]`)),
    ],
  };
}

function validateRule(rule: JsonObject, at: string, hasUrls: boolean): StatusCause[] {
  const isEmpty = (field: string) => !Array.isArray(rule[field]) || rule[field].length === 0;
  const verbs = isEmpty('verbs') ? [requiredCause(`${at}.verbs`, 'verbs must contain at least one value')] : [];
  if (!isEmpty('nonResourceURLs')) {
    const why = 'namespaced rules cannot apply to non-resource URLs';
    if (!hasUrls) return [...verbs, invalidCause(`${at}.nonResourceURLs`, rule['nonResourceURLs'], why)];
    const isMixed = ['apiGroups', 'resources', 'resourceNames'].some((field) => !isEmpty(field));
    const mixed = 'rules cannot apply to both regular resources and non-resource URLs';
    return isMixed ? [...verbs, invalidCause(`${at}.nonResourceURLs`, rule['nonResourceURLs'], mixed)] : verbs;
  }
  return [
    ...verbs,
    ...(isEmpty('apiGroups') ? [requiredCause(`${at}.apiGroups`, 'resource rules must supply at least one api group')] : []),
    ...(isEmpty('resources') ? [requiredCause(`${at}.resources`, 'resource rules must supply at least one resource')] : []),
  ];
}

function validateRoleRef({ apiGroup, kind, name }: JsonObject, kinds: readonly string[]): StatusCause[] {
  const causes: StatusCause[] = [];
  if (apiGroup !== GROUP) causes.push(invalidCause('roleRef.apiGroup', apiGroup, `supported values: "${GROUP}"`));
  if (!kinds.includes(String(kind))) {
    causes.push(invalidCause('roleRef.kind', kind, `supported values: ${kinds.map((each) => `"${each}"`).join(', ')}`));
  }
  if (!name) causes.push(requiredCause('roleRef.name', ''));
  return causes;
}

function validateSubject({ kind, name, namespace, apiGroup }: JsonObject, at: string): StatusCause[] {
  const causes = name ? [] : [requiredCause(`${at}.name`, '')];
  const isAccount = kind === 'ServiceAccount';
  if (!isAccount && kind !== 'User' && kind !== 'Group') {
    return [...causes, invalidCause(`${at}.kind`, kind, 'supported values: "ServiceAccount", "User", "Group"')];
  }
  if (isAccount && !namespace) causes.push(requiredCause(`${at}.namespace`, ''));
  const group = isAccount ? '' : GROUP;
  if ((apiGroup ?? '') !== group) causes.push(invalidCause(`${at}.apiGroup`, apiGroup, `supported values: "${group}"`));
  return causes;
}

/** The groups may be left out: there is only one that fits. */
function withGroups(object: AnyObject): AnyObject {
  const { roleRef, subjects } = object;
  return {
    ...object,
    ...(isObject(roleRef) && { roleRef: { ...roleRef, apiGroup: roleRef['apiGroup'] || GROUP } }),
    ...(Array.isArray(subjects) && {
      subjects: subjects.map((subject) =>
        isObject(subject) && !subject['apiGroup'] && (subject['kind'] === 'User' || subject['kind'] === 'Group')
          ? { ...subject, apiGroup: GROUP }
          : subject,
      ),
    }),
  };
}

function objectsIn(value: unknown): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
