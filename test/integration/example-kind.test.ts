/** A kind that will never be ours, from its record and schema alone: everything that Kubernetes must know of it follows. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { kind } from '../../src/api/kind.ts';
import { byType } from '../../src/api/known-resources.ts';
import { AGE } from '../../src/api/kubevirt/columns.ts';
import { specSchema as vmSpec } from '../../src/api/kubevirt/kinds/virtual-machine-schema.ts';
import { KINDS } from '../../src/api/kubevirt/kinds-table.ts';
import { SUBRESOURCES } from '../../src/api/kubevirt/subresources-table.ts';
import { USUAL_ROLES } from '../../src/api/kubevirt/usual-roles.ts';
import { boolean, foreign, integer, list, object, oneOf, optional, quantity, text } from '../../src/api/schema/dsl.ts';
import { nestedSpecs } from '../../tools/compatibility/nested-specs.ts';
import { compatibilityPage } from '../../tools/compatibility/page.ts';
import { refusedTable } from '../../tools/compatibility/refused-table.ts';
import { crdOf } from '../../tools/crds.ts';
import { firstExample } from '../../tools/first-example.ts';
import { type FullKind, KIND_FILES, readKindFiles } from '../../tools/kind-files.ts';
import { clusterRulesOf, componentRoles } from '../../tools/manifests/component-roles.ts';
import type { PolicyRule } from '../../tools/manifests/policy-rule.ts';
import { rulesOfRole, userRoles } from '../../tools/manifests/user-roles.ts';
import { validatingWebhooks, webhooks } from '../../tools/manifests/webhooks.ts';
import { publishedKinds } from '../../tools/published-kinds.ts';

const record = kind({
  group: 'example.kubevirt.io',
  kind: 'VirtualMachineExample',
  plural: 'virtualmachineexamples',
  shortNames: ['vmexample', 'vmexamples'],
  description: 'What instances have in common.',
  versions: ['v1beta1', 'v1alpha1'],
  columns: [AGE, { name: 'Used', type: 'boolean', jsonPath: '.status.used' }],
  subresources: { status: {} },
  admission: { validate: { exceptUpdatesBy: ['virt-controller'] } },
  roles: USUAL_ROLES,
  access: { 'virt-controller': [{ verbs: ['get', 'list', 'watch'] }, { part: 'status', verbs: ['patch'] }] },
  remark: 'an example',
  specType: 'VirtualMachineInstancePresetSpec',
  refused: { domain: 'write it into the machine' },
});
const schemas: FullKind['schemas'] = {
  spec: object('Which machines.', { selector: foreign('Their labels.') }),
  status: object('What is known of it.', { used: optional(boolean('There is such a machine.')) }),
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
  const { metadata, spec } = crdOf(example);
  assert.deepEqual(metadata, { name: 'virtualmachineexamples.example.kubevirt.io', labels: { 'kubevirt.io': '' } });
  assert.deepEqual(spec.names.shortNames, ['vmexample', 'vmexamples']);
  assert.deepEqual(
    spec.versions.map(({ name, storage }) => [name, storage]),
    [
      ['v1beta1', true],
      ['v1alpha1', false],
    ],
  );
  const schema = spec.versions[0]?.schema.openAPIV3Schema as { properties: { spec: { properties: object } } } | undefined; // it has a spec
  assert.deepEqual(Object.keys(schema?.properties.spec.properties ?? {}), ['selector', 'domain']);
});

test('a record gives a webhook', () => {
  assert.deepEqual(validatingWebhooks([record]), [
    {
      name: 'virtualmachineexamples-validator.example.kubevirt.io',
      clientConfig: { service: { name: 'virt-api', namespace: 'kubevirt', port: 443, path: '/validate/virtualmachineexamples' } },
      rules: [
        {
          operations: ['CREATE', 'UPDATE'],
          apiGroups: ['example.kubevirt.io'],
          apiVersions: ['v1beta1', 'v1alpha1'],
          resources: ['virtualmachineexamples'],
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
    ['example.kubevirt.io virtualmachineexamples: get list watch', 'example.kubevirt.io virtualmachineexamples/status: patch'],
  );
  assert.deepEqual(
    added((kinds) => clusterRulesOf('virt-api', kinds)),
    ['example.kubevirt.io virtualmachineexamples: list'],
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
      [`example.kubevirt.io virtualmachineexamples: ${may}`],
    );
});

test('a kind stands inside another one where the schema is the same', () => {
  const template = object('A template.', { spec: object('Other words for it.', vmSpec.properties) });
  const spec = object('Machines.', { machines: list('Those.', template), template });
  assert.deepEqual(
    nestedSpecs({ record, schemas: { spec } }).map(({ at, of }) => [at, of.record.kind]),
    [
      ['machines[].spec.', 'VirtualMachine'],
      ['template.spec.', 'VirtualMachine'],
    ],
  );
});

test('a kind whose record is nowhere in the folder is told', async () => {
  await assert.rejects(readKindFiles([record], 'src/api/kubevirt/kinds'), /no file has the record of VirtualMachineExample/);
});

test('a schema gives a first example', () => {
  const source = object('What.', { kind: oneOf('Of which kind.', ['VirtualMachine']), name: text('Which.'), size: quantity('How much.') });
  const spec = object('Which machines.', { source, count: integer('How many.', { minimum: 3 }), paused: optional(boolean('Not now.')) });
  assert.equal(
    firstExample({ record, schemas: { spec } }),
    `# What instances have in common.
apiVersion: example.kubevirt.io/v1beta1
kind: VirtualMachineExample
metadata:
  name: example
spec:
  source:
    kind: VirtualMachine
    name: example
    size: "1"
  count: 3
`,
  );
});

test('a record is checked against the published type of a version that it has', () => {
  const checks = publishedKinds([record], 'interface V1alpha1VirtualMachineExample {\n');
  assert.match(checks, /^ {2}Fits<Published<Ours<'VirtualMachineExample'>>, V1alpha1VirtualMachineExample>,$/m);
});

test('a record is in the manifests that are installed', () => {
  for (const text of [componentRoles(all), userRoles(all, SUBRESOURCES), webhooks(all)]) assert.match(text, /virtualmachineexamples/);
});

test('a record is a resource that is found by the type of its objects', () => {
  assert.equal(byType(all).get('example.kubevirt.io/v1beta1 VirtualMachineExample'), record);
});

test('a record gives a table of refused fields', () => {
  const text = refusedTable([...KIND_FILES, example]);
  assert.match(text, /const VIRTUAL_MACHINE_EXAMPLE = \{\n {2}domain: 'set',\n\} as const;/);
  assert.match(text, /^ {2}VirtualMachineExample: VIRTUAL_MACHINE_EXAMPLE,$/m);
});

test('a record gives a part of the page about compatibility', () => {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const lines = page.split('\n');
  const isNew = (line: string) => !lines.includes(line) && line.length < 200 && line !== '';
  assert.deepEqual(
    compatibilityPage(page, [...KIND_FILES, example])
      .split('\n')
      .filter(isNew),
    [
      '| VirtualMachineExample | example.kubevirt.io | v1beta1 (stored), v1alpha1 | vmexample, vmexamples | an example |',
      '| VirtualMachineExample | 1 | 1 |',
      '## VirtualMachineExample spec',
      '| `domain` | DomainSpec | **refused**: write it into the machine |',
    ],
  );
});
