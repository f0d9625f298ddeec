/** A kind that is not ours yet, from its record and schema alone: everything that Kubernetes must know of it follows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kind } from '../../src/api/kind.ts';
import { byType } from '../../src/api/known-resources.ts';
import { AGE } from '../../src/api/kubevirt/columns.ts';
import { crdOf } from '../../src/api/kubevirt/crds.ts';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import type { KindSchemas } from '../../src/api/kubevirt/schemas-table.ts';
import { SUBRESOURCES } from '../../src/api/kubevirt/subresources-table.ts';
import { USUAL_ROLES } from '../../src/api/kubevirt/usual-roles.ts';
import { boolean, foreign, object, optional } from '../../src/api/schema/dsl.ts';
import { FULL_KINDS, type FullKind } from '../../tools/compatibility/compared.ts';
import { compatibilityPage } from '../../tools/compatibility/page.ts';
import { refusedTable } from '../../tools/compatibility/refused-table.ts';
import { clusterRulesOf, componentRoles } from '../../tools/manifests/component-roles.ts';
import type { PolicyRule } from '../../tools/manifests/policy-rule.ts';
import { rulesOfRole, userRoles } from '../../tools/manifests/user-roles.ts';
import { validatingWebhooks, webhooks } from '../../tools/manifests/webhooks.ts';

const record = kind({
  group: 'snapshot.kubevirt.io',
  kind: 'VirtualMachineSnapshot',
  plural: 'virtualmachinesnapshots',
  shortNames: ['vmsnapshot', 'vmsnapshots'],
  description: 'What a machine was at one moment.',
  versions: ['v1beta1', 'v1alpha1'],
  columns: [AGE, { name: 'ReadyToUse', type: 'boolean', jsonPath: '.status.readyToUse' }],
  subresources: { status: {} },
  admission: { validate: { exceptUpdatesBy: ['virt-controller'] } },
  roles: USUAL_ROLES,
  access: { 'virt-controller': [{ verbs: ['get', 'list', 'watch'] }, { part: 'status', verbs: ['patch'] }] },
  remark: 'an example',
  refused: { deletionPolicy: 'a snapshot goes with its object', failureDeadline: 'nobody looks at the clock' },
});
const schemas: KindSchemas = {
  spec: object('Which machine.', { source: foreign('The machine.') }),
  status: object('How far it is.', { readyToUse: optional(boolean('It is whole.')) }),
};
const example: FullKind = { record, schemas };
const all = [...KINDS, record];

/** Rules in one line each: `kubevirt.io kubevirts: get list`. */
function linesOf(rules: readonly PolicyRule[]): string[] {
  return rules.flatMap(({ apiGroups, resources, verbs }) => resources.map((each) => `${apiGroups} ${each}: ${verbs.join(' ')}`));
}

/** What there is with the kind and was not without it. */
function added(rulesFor: (kinds: typeof all) => readonly PolicyRule[]): string[] {
  const before = linesOf(rulesFor([...KINDS]));
  return linesOf(rulesFor(all)).filter((line) => !before.includes(line));
}

test('a record gives a definition with the published fields that are refused', () => {
  const { metadata, spec } = crdOf(record, schemas);
  assert.deepEqual(metadata, { name: 'virtualmachinesnapshots.snapshot.kubevirt.io', labels: { 'kubevirt.io': '' } });
  assert.deepEqual(spec.names.shortNames, ['vmsnapshot', 'vmsnapshots']);
  assert.deepEqual(
    spec.versions.map(({ name, storage }) => [name, storage]),
    [
      ['v1beta1', true],
      ['v1alpha1', false],
    ],
  );
  const schema = spec.versions[0]?.schema.openAPIV3Schema as { properties: { spec: { properties: object } } } | undefined; // it has a spec
  assert.deepEqual(Object.keys(schema?.properties.spec.properties ?? {}), ['source', 'deletionPolicy', 'failureDeadline']);
});

test('a record gives a webhook', () => {
  assert.deepEqual(validatingWebhooks([record]), [
    {
      name: 'virtualmachinesnapshots-validator.snapshot.kubevirt.io',
      clientConfig: { service: { name: 'virt-api', namespace: 'kubevirt', port: 443, path: '/validate/virtualmachinesnapshots' } },
      rules: [
        {
          operations: ['CREATE', 'UPDATE'],
          apiGroups: ['snapshot.kubevirt.io'],
          apiVersions: ['v1beta1', 'v1alpha1'],
          resources: ['virtualmachinesnapshots'],
          scope: 'Namespaced',
        },
      ],
      matchConditions: [
        {
          name: 'not-by-virt-controller',
          expression:
            "!(request.operation == 'UPDATE' && request.userInfo.username == 'system:serviceaccount:kubevirt:kubevirt-controller')",
        },
      ],
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      sideEffects: 'None',
      timeoutSeconds: 10,
      admissionReviewVersions: ['v1'],
    },
  ]);
});

test('a record gives what components may do', () => {
  assert.deepEqual(
    added((kinds) => clusterRulesOf('virt-controller', kinds)),
    ['snapshot.kubevirt.io virtualmachinesnapshots: get list watch', 'snapshot.kubevirt.io virtualmachinesnapshots/status: patch'],
  );
  assert.deepEqual(
    added((kinds) => clusterRulesOf('virt-api', kinds)),
    ['snapshot.kubevirt.io virtualmachinesnapshots: list'],
  );
  assert.deepEqual(
    added((kinds) => clusterRulesOf('virt-handler', kinds)),
    [],
  );
});

test('a record gives what people may do', () => {
  const verbs = { view: 'get list watch', edit: 'get list watch create update patch delete' };
  for (const [role, may] of Object.entries({ ...verbs, admin: `${verbs.edit} deletecollection` }))
    assert.deepEqual(
      added((kinds) => rulesOfRole(role as 'view', kinds, SUBRESOURCES)), // one of the three above
      [`snapshot.kubevirt.io virtualmachinesnapshots: ${may}`],
    );
});

test('a record is in the manifests that are installed', () => {
  for (const text of [componentRoles(all), userRoles(all, SUBRESOURCES), webhooks(all)]) assert.match(text, /virtualmachinesnapshots/);
});

test('a record is a resource that is found by the type of its objects', () => {
  assert.equal(byType(all).get('snapshot.kubevirt.io/v1beta1 VirtualMachineSnapshot'), record);
});

test('a record gives a table of refused fields', () => {
  const text = refusedTable([...FULL_KINDS, example]);
  assert.match(text, /const VIRTUAL_MACHINE_SNAPSHOT = \{\n {2}deletionPolicy: 'set',\n {2}failureDeadline: 'set',\n\} as const;/);
  assert.match(text, /^ {2}VirtualMachineSnapshot: VIRTUAL_MACHINE_SNAPSHOT,$/m);
});

test('a record gives a part of the page about compatibility', () => {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const lines = page.split('\n');
  const isNew = (line: string) => !lines.includes(line) && line.length < 200 && line !== '';
  assert.deepEqual(
    compatibilityPage(page, [...FULL_KINDS, example])
      .split('\n')
      .filter(isNew),
    [
      '| VirtualMachineSnapshot | snapshot.kubevirt.io | v1beta1 (stored), v1alpha1 | vmsnapshot, vmsnapshots | an example |',
      '- snapshot.kubevirt.io: VirtualMachineRestore, VirtualMachineSnapshotContent',
      '| VirtualMachineSnapshot | 1 | 2 |',
      '## VirtualMachineSnapshot spec',
      '| `deletionPolicy` | string | **refused**: a snapshot goes with its object |',
      '| `failureDeadline` | string | **refused**: nobody looks at the clock |',
      '| `source` | object | honoured |',
      '### VirtualMachineSnapshot status',
      'Written: `readyToUse`.',
      'Never written: `conditions`, `creationTime`, `error`, `indications`, `phase`, `snapshotVolumes`, `sourceIndications`, `sourceUID`, `virtualMachineSnapshotContentName`.',
    ],
  );
});
