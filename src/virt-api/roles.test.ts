/** The roles for people, against the table of subresources: view reads, edit changes, admin also removes whole collections and sees screens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';

type Rule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] };
type Role = { readonly kind: string; readonly metadata: { readonly name: string; readonly labels: object }; readonly rules: Rule[] };

const ROLES = parseAllDocuments(readFileSync('deploy/rbac-users.yaml', 'utf8'))
  .map((document) => document.toJS() as Role)
  .filter(({ kind }) => kind === 'ClusterRole');
const KINDS = [
  'virtualmachines',
  'virtualmachineinstances',
  'virtualmachineinstancereplicasets',
  'offlinevirtualmachines',
  'virtualmachineinstanceconfigs',
];
const READ = ['get', 'list', 'watch'];
const WRITE = ['create', 'update', 'patch', 'delete'];

function grants(role: string): Set<string> {
  const { rules } = ROLES.find(({ metadata }) => metadata.name === `kubevirt.io:${role}`) ?? { rules: [] };
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group} ${resource}`))),
    ),
  );
}

function ofKinds(verbs: readonly string[]): string[] {
  return KINDS.flatMap((kind) => verbs.map((verb) => `${verb} kubevirt.io ${kind}`));
}

function ofRoutes(...roles: readonly string[]): string[] {
  return SUBRESOURCES.filter(({ role }) => roles.includes(role)).flatMap(({ resource, subresource, verbs }) =>
    verbs.map((verb) => `${verb} ${SUBRESOURCES_GROUP} ${resource}/${subresource}`),
  );
}

const EVERYBODYS = ['get kubevirt.io kubevirts', 'list kubevirt.io kubevirts', `update ${SUBRESOURCES_GROUP} expand-vm-spec`];
const SCALE = ['get', 'update', 'patch'].map((verb) => `${verb} kubevirt.io virtualmachineinstancereplicasets/scale`);
const view = [...ofKinds(READ), ...ofRoutes('view'), ...EVERYBODYS];
const edit = [...view, ...ofKinds(WRITE), ...SCALE, ...ofRoutes('edit')];
const admin = [...edit, ...ofKinds(['deletecollection']), ...ofRoutes('admin')];
const MIGRATIONS = [...READ, ...WRITE, 'deletecollection'].map((verb) => `${verb} kubevirt.io virtualmachineinstancemigrations`);
const migrate = [`update ${SUBRESOURCES_GROUP} virtualmachines/migrate`, ...MIGRATIONS];

for (const [role, expected] of Object.entries({ view, edit, admin, migrate }))
  test(`${role} grants what it should, every subresource of ours included, and nothing else`, () => {
    assert.deepEqual([...grants(role)].sort(), [...new Set(expected)].sort());
  });

test('view, edit and admin join the roles of that name; migrate joins none', () => {
  const joins = (role: string) =>
    Object.keys(ROLES.find(({ metadata }) => metadata.name === `kubevirt.io:${role}`)?.metadata.labels ?? {}).filter((label) =>
      label.startsWith('rbac.authorization.k8s.io/aggregate-to-'),
    );
  assert.deepEqual(['view', 'edit', 'admin', 'migrate', 'default'].map(joins), [
    ...['view', 'edit', 'admin'].map((role) => [`rbac.authorization.k8s.io/aggregate-to-${role}`]),
    [],
    [],
  ]);
});
