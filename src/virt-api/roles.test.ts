/** The roles for people, against the table of subresources: view reads, edit changes, admin also removes whole collections and sees screens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { KINDS } from '../api/kubevirt/kinds-table.ts';
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { SUBRESOURCES } from '../api/kubevirt/subresources-table.ts';
import { USUAL_ROLES } from '../api/kubevirt/usual-roles.ts';

type Rule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] };
type Role = { readonly kind: string; readonly metadata: { readonly name: string; readonly labels: object }; readonly rules: Rule[] };

const ROLES = parseAllDocuments(readFileSync('deploy/rbac-users.yaml', 'utf8'))
  .map((document) => document.toJS() as Role)
  .filter(({ kind }) => kind === 'ClusterRole');
function grants(role: string): Set<string> {
  const { rules } = ROLES.find(({ metadata }) => metadata.name === `kubevirt.io:${role}`) ?? { rules: [] };
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => `${verb} ${group} ${resource}`))),
    ),
  );
}

function ofKinds(role: 'view' | 'edit' | 'admin'): string[] {
  return KINDS.flatMap(({ group, plural, roles }) => roles[role].map((verb) => `${verb} ${group} ${plural}`));
}

function ofRoutes(...roles: readonly string[]): string[] {
  return SUBRESOURCES.filter(({ role }) => roles.includes(role)).flatMap(({ resource, subresource, verbs }) =>
    verbs.map((verb) => `${verb} ${SUBRESOURCES_GROUP} ${resource}/${subresource}`),
  );
}

/** By the first part of `evacuate/cancel`, which is what the API server asks for. */
const EVACUATE = ['virtualmachines', 'virtualmachineinstances'].map((resource) => `update ${SUBRESOURCES_GROUP} ${resource}/evacuate`);
const EXPAND = `update ${SUBRESOURCES_GROUP} expand-vm-spec`;
const SCALE = ['get', 'update', 'patch'].flatMap((verb) => [
  `${verb} kubevirt.io virtualmachineinstancereplicasets/scale`,
  `${verb} pool.kubevirt.io virtualmachinepools/scale`,
]);
const view = [...ofKinds('view'), ...ofRoutes('view'), EXPAND];
const UPLOAD = 'create upload.cdi.kubevirt.io uploadtokenrequests';
const edit = [...view, ...ofKinds('edit'), ...SCALE, ...EVACUATE, UPLOAD, ...ofRoutes('edit')];
const admin = [...edit, ...ofKinds('admin'), ...ofRoutes('admin')];
const MIGRATIONS = USUAL_ROLES.admin.map((verb) => `${verb} kubevirt.io virtualmachineinstancemigrations`);
const migrate = [`update ${SUBRESOURCES_GROUP} virtualmachines/migrate`, ...MIGRATIONS];

for (const [role, expected] of Object.entries({ view, edit, admin, migrate }))
  test(`${role} grants what it should, every subresource of ours included, and nothing else`, () => {
    assert.deepEqual([...grants(role)].sort(), [...new Set(expected)].sort());
  });

test('whoever may view reads, whoever may edit writes, and admins remove whole collections; the KubeVirt is looked at by everybody', () => {
  const read = ['get', 'list', 'watch'];
  const write = [...read, 'create', 'update', 'patch', 'delete'];
  assert.deepEqual(USUAL_ROLES, { view: read, edit: write, admin: [...write, 'deletecollection'] });
  const unusual = KINDS.filter(({ roles }) => roles !== USUAL_ROLES).map(({ kind, roles }) => [kind, Object.values(roles).join(' ')]);
  const forAll = [read, write, [...write, 'deletecollection'], read].join(' ');
  assert.deepEqual(unusual, [
    ['VirtualMachineInstanceMigration', [read, read, read].join(' ')],
    ['MigrationPolicy', [read, read, read].join(' ')],
    ['VirtualMachineClusterInstancetype', forAll],
    ['VirtualMachineClusterPreference', forAll],
    // a restore believes what it says, and writes machines past admission
    ['VirtualMachineSnapshotContent', [read, read, [...read, 'delete', 'deletecollection']].join(' ')],
    ['CDIConfig', [read, read, read, read].join(' ')],
    ['KubeVirt', 'get,list get,list get,list get,list'],
  ]);
  const ofTypes = ROLES.find(({ metadata }) => metadata.name === 'instancetype.kubevirt.io:view')?.rules;
  assert.deepEqual(ofTypes, [
    {
      apiGroups: ['instancetype.kubevirt.io'],
      resources: ['virtualmachineclusterinstancetypes', 'virtualmachineclusterpreferences'],
      verbs: read,
    },
  ]);
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
