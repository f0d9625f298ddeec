import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { KINDS } from '../../api/kubevirt/kinds-table.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { type AdmissionWorld, documents, startAdmissionWorld } from './admission-world.testing.ts';

const PLURALS: ReadonlyMap<string, string> = new Map(KINDS.map(({ kind, plural }) => [kind, plural]));
const CLUSTER_KINDS: readonly string[] = KINDS.filter(({ isNamespaced }) => !isNamespaced).map(({ kind }) => kind);
const inDefault = <T extends { metadata: object }>(object: T) => ({ ...object, metadata: { ...object.metadata, namespace: 'default' } });
/** Goes in only where its instance runs: see migration.test.ts. */
const NEEDS_A_GUEST = ['VirtualMachineInstanceMigration'];
const MANIFESTS = ['examples', 'examples/seeds']
  .flatMap((folder) => readdirSync(folder).map((file) => `${folder}/${file}`))
  .filter((file) => file.endsWith('.yaml'))
  .flatMap((file) => documents(file).map((object) => ({ file, object })))
  .filter(({ object }) => object && PLURALS.has(object.kind) && !NEEDS_A_GUEST.includes(object.kind))
  .map(({ file, object }) => ({ file, object: CLUSTER_KINDS.includes(object.kind) ? object : inDefault(object) }));

const collection = ({ apiVersion, kind }: { apiVersion: string; kind: string }) =>
  `/apis/${apiVersion}${CLUSTER_KINDS.includes(kind) ? '' : '/namespaces/default'}/${PLURALS.get(kind)}`;

/** `npm run test:soak` asks for all of them. */
const MUTATIONS = Number(process.env['MUTATED_MANIFESTS'] ?? 500);

/** Runs from the project's folder, where the manifests are. */
describe('admission of our kinds by the real API server', { timeout: 120_000 + MUTATIONS * 100 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const { file, object } of MANIFESTS) {
    test(`${file}: ${object.kind} ${object.metadata.name} goes in, and again without a change`, async () => {
      const made = await world.send('POST', collection(object), object);
      assert.equal(made.status, 201, JSON.stringify(made.body));
      const path = `${collection(object)}/${object.metadata.name}`;
      const again = await world.send('PUT', path, { ...object, metadata: made.body['metadata'] });
      assert.deepEqual([again.status, again.body['metadata']], [200, made.body['metadata']]);
      await world.send('PATCH', path, { metadata: { finalizers: null } });
      if (!object.apiVersion.startsWith('instancetype')) await world.send('DELETE', path); // machines that follow name them
    });
  }

  const seed = {
    apiVersion: 'kubevirt.io/v1alpha2',
    kind: 'VirtualMachine',
    metadata: { name: 'myvm' },
    spec: {
      running: false,
      template: {
        spec: {
          domain: { resources: { requests: { memory: '8Mi' } }, devices: { disks: [{ name: 'disk0', volumeName: 'mypcv' }] } },
          volumes: [{ name: 'mypvc', persistentVolumeClaim: { claimName: 'myclaim' } }],
        },
      },
    },
  };

  test('the mistyped volume of the first seed is pointed out, at its old version', async () => {
    const { status, body } = await world.send('POST', collection(seed), seed);
    assert.deepEqual(
      [status, body.details?.causes],
      [
        422,
        [
          {
            reason: 'FieldValueInvalid',
            field: 'spec.template.spec.domain.devices.disks[0].volumeName',
            message: 'Invalid value: "mypcv": there is no volume of this name; did you mean "mypvc"?',
          },
        ],
      ],
    );
    assert.match(
      body.message ?? '',
      /^admission webhook "virtualmachines-validator\.kubevirt\.io" denied the request: VirtualMachine\.kubevirt\.io "myvm" is invalid: /,
    );
  });

  test('an instance: completed, its spec fixed, its status out of reach', async () => {
    const vmi = { ...seed, kind: 'VirtualMachineInstance', spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } };
    const path = `${collection(vmi)}/myvm`;
    const made = await world.send('POST', collection(vmi), { ...vmi, status: { phase: 'Running' } });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    assert.equal((made.body['status'] as JsonObject)['phase'], 'Pending');
    const refused = await world.send('PATCH', path, { spec: { hostname: 'other' } });
    assert.deepEqual([refused.status, refused.body.details?.causes?.map(({ field }) => field)], [422, ['spec']]);
    const ours = 'system:serviceaccount:kubevirt:kubevirt-handler';
    await world.send('PATCH', path, { status: { phase: 'Running' } }, ours);
    const tried = await world.send('PATCH', path, { status: { phase: 'Failed' }, metadata: { labels: { mine: 'x' } } });
    assert.deepEqual([tried.status, (tried.body['status'] as JsonObject)['phase']], [200, 'Running']);
  });

  test(`${MUTATIONS} mutated manifests are taken or refused, never an error of ours`, async (t) => {
    const answers = new Map<number, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...MANIFESTS),
        fc.array(fc.tuple(fc.nat(), hostile), { minLength: 1, maxLength: 2 }),
        async ({ object }, changes) => {
          const mutated = changes.reduce<unknown>((value, [at, what]) => withChange(value, at, what), object);
          const made = await world.send('POST', collection(object), mutated);
          answers.set(made.status, (answers.get(made.status) ?? 0) + 1);
          assert.ok(made.status < 500, `${made.status}: ${made.body.message} for ${JSON.stringify(mutated)}`);
          if (made.status === 422) assert.ok((made.body.details?.causes ?? []).length > 0, JSON.stringify(made.body));
          if (made.status !== 201) return;
          const { name } = made.body['metadata'] as { name: string };
          const path = `${collection(object)}/${name}`;
          const changed = await world.send('PATCH', path, {
            spec: isObject(mutated) ? mutated['spec'] : {},
            metadata: { finalizers: null },
          });
          assert.ok(changed.status < 500, `${changed.status}: ${changed.body.message}`);
          const gone = await world.send('DELETE', path);
          assert.ok(gone.status === 200, `stuck: ${gone.body.message}`);
        },
      ),
      { numRuns: MUTATIONS, endOnFailure: true },
    );
    t.diagnostic(`${MUTATIONS} manifests: ${JSON.stringify(Object.fromEntries(answers))}`);
    assert.ok((answers.get(201) ?? 0) > 10 && (answers.get(422) ?? 0) > 20, JSON.stringify([...answers]));
  });
});

const HOSTILE = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  'ü',
  '-1',
  '1e400',
  '1e99',
  '99999999999999999999Gi',
  '../..',
  '$(id)',
  'a,b=c',
  'x'.repeat(5000),
  '__proto__',
];
/** What a field is replaced with; undefined takes it away. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(...HOSTILE, 0, -1, 1e9, 2 ** 53, 0.5, true, false, null, [], {}, [null], [[]], { a: 1 }, undefined),
  fc.jsonValue({ maxDepth: 2 }),
);

/** The value with its n-th field (counting all of them, at any depth) replaced; names of kind and version are left alone. */
function withChange(value: unknown, n: number, what: unknown): unknown {
  const paths = pathsOf(value).filter(([first]) => first !== 'apiVersion' && first !== 'kind');
  const path = paths[n % Math.max(1, paths.length)];
  return path ? replaced(value, path, what) : value;
}

function pathsOf(value: unknown): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) => {
    const step = Array.isArray(value) ? Number(key) : key;
    return [[step], ...pathsOf(child).map((path) => [step, ...path])];
  });
}

function replaced(value: unknown, [step, ...rest]: readonly (string | number)[], what: unknown): unknown {
  if (step === undefined) return what;
  if (Array.isArray(value)) return value.map((item, index) => (index === step ? replaced(item, rest, what) : item));
  const object = value as JsonObject; // a path leads only through what is there
  return { ...object, [step]: replaced(object[step], rest, what) };
}
