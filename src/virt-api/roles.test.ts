/** The roles for people, against the table of subresources: view reads, edit changes, admin also removes whole collections and sees screens. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { SUBRESOURCES_GROUP } from '../api/kubevirt/subresources.ts';
import { ROUTES } from './routes.ts';

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
/** Seen by whoever may look, and for admins alone; everything else needs edit. */
const FOR_VIEW = ['expand-spec', 'guestosinfo', 'userlist', 'filesystemlist', 'usage'];
const FOR_ADMIN = ['vnc/screenshot'];

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

function ofRoutes(isIn: (subresource: string) => boolean): string[] {
  return ROUTES.filter(({ subresource }) => isIn(subresource)).flatMap(({ resource, subresource, method, alsoByGet }) => {
    const verbs = method === 'GET' ? ['get'] : alsoByGet ? ['get', 'update'] : ['update'];
    return verbs.map((verb) => `${verb} ${SUBRESOURCES_GROUP} ${resource}/${subresource}`);
  });
}

const EVERYBODYS = ['get kubevirt.io kubevirts', 'list kubevirt.io kubevirts', `update ${SUBRESOURCES_GROUP} expand-vm-spec`];
const SCALE = ['get', 'update', 'patch'].map((verb) => `${verb} kubevirt.io virtualmachineinstancereplicasets/scale`);
const view = [...ofKinds(READ), ...ofRoutes((each) => FOR_VIEW.includes(each)), ...EVERYBODYS];
const edit = [...view, ...ofKinds(WRITE), ...SCALE, ...ofRoutes((each) => !FOR_VIEW.includes(each) && !FOR_ADMIN.includes(each))];
const admin = [...edit, ...ofKinds(['deletecollection']), ...ofRoutes((each) => FOR_ADMIN.includes(each))];
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
