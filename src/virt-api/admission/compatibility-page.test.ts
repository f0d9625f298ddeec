/** docs/compatibility.md is true: every field that it calls refused is refused by name by the real API server, and no honoured one is. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { knownResource } from '../../api/known-resources.ts';
import { pathOf } from '../../api/resource.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { type AdmissionWorld, documents, startAdmissionWorld } from './admission-world.testing.ts';

type Row = { readonly path: string; readonly type: string; readonly verdict: string };
/** How a field is tried: in which object, and where in its spec. */
type Trial = { readonly prefix: string; readonly object: () => JsonObject };

const VALUES: Readonly<Record<string, unknown>> = { boolean: true, integer: 600, string: 'x', quantity: '1Gi' };
/** What the schema asks for beside the field that is tried. */
const COMPANIONS: readonly [inside: RegExp, fields: JsonObject][] = [
  [/(disks|interfaces|networks|volumes|inputs|features|watchdog|sound|panicDevices)$/, { name: 'x' }],
  [/inputs$/, { type: 'tablet' }],
  [/(containerDisk|registryDisk)$/, { image: 'x' }],
  [/persistentVolumeClaim$/, { claimName: 'x' }],
  [/dataVolume$/, { name: 'x' }],
  [/emptyDisk$/, { capacity: '1Gi' }],
  [/custom$/, { logical: 512, physical: 512 }],
  [/ports$/, { port: 80 }],
  [/portRanges$/, { start: 80 }],
  [/kernelBoot\.container$/, { image: 'x' }],
  [/sshPublicKey$/, { source: { secret: { secretName: 'x' } } }],
];

const PAGE = readFileSync('docs/compatibility.md', 'utf8');
const KINDS_OF_PAGE = [...PAGE.matchAll(/^## (\w+) spec$/gm)].map(([, kind = '']) => kind);

/** Other kinds are tried in their example, as it is. */
const TRIALS: Readonly<Record<string, Trial>> = {
  VirtualMachineInstance: { prefix: 'template.spec.', object: machine },
  VirtualMachine: { prefix: '', object: machine },
  KubeVirt: {
    prefix: '',
    object: () => ({ apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt', namespace: 'kubevirt' }, spec: {} }),
  },
};

test('the page has tables of machines, instances, replica sets and the KubeVirt', () => {
  const expected = ['VirtualMachine', 'VirtualMachineInstance', 'VirtualMachineInstanceReplicaSet', 'KubeVirt'];
  assert.deepEqual(
    expected.filter((kind) => !KINDS_OF_PAGE.includes(kind)),
    [],
  );
});

describe('the page about compatibility', { timeout: 300_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const kind of KINDS_OF_PAGE) {
    test(`${kind}: what is called refused is refused by name, and nothing else is`, async () => {
      const { prefix, object } = TRIALS[kind] ?? { prefix: '', object: () => exampleOf(kind) };
      const rows = rowsOf(kind);
      assert.ok(rows.length > 0, `${kind}: the table is not there`);
      const untrue: string[] = [];
      for (const { path, type, verdict } of rows) {
        const field = `spec.${prefix}${path}`.replaceAll('[]', '[0]');
        const manifest = withField(object(), `spec.${prefix}${path}`, sampleOf(type));
        const { status, body } = await world.send('POST', `${collectionOf(manifest)}?dryRun=All`, manifest);
        const isRefused = (body.details?.causes ?? []).some((cause) => cause.field === field && /not supported here/.test(cause.message));
        if (isRefused !== verdict.startsWith('**refused**') || status >= 500)
          untrue.push(`${path}: ${verdict}, but ${status} ${body.message}`);
      }
      assert.deepEqual(untrue, []);
    });
  }
});

function machine(): JsonObject {
  const template = { spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'x' }, spec: { runStrategy: 'Halted', template } };
}

function exampleOf(kind: string): JsonObject {
  const files = readdirSync('examples').filter((name) => name.endsWith('.yaml'));
  const found = files.flatMap((file) => documents(`examples/${file}`)).find((each) => each.kind === kind);
  return found ?? assert.fail(`examples/ has no ${kind}`);
}

function collectionOf({ apiVersion, kind, metadata }: JsonObject): string {
  const resource = knownResource({ apiVersion: String(apiVersion), kind: String(kind) });
  const namespace = isObject(metadata) && typeof metadata['namespace'] === 'string' ? metadata['namespace'] : 'default';
  return pathOf(resource ?? assert.fail(`no kind of ours: ${kind}`), { namespace });
}

function rowsOf(kind: string): Row[] {
  const text = PAGE.split(`\n## ${kind} spec\n`)[1]?.split('\n## ')[0] ?? '';
  return [...text.matchAll(/^\| `([^`]+)` \| ([^|]*) \| (.*) \|$/gm)].map(([, path = '', type = '', verdict = '']) => ({
    path,
    type: type.trim(),
    verdict,
  }));
}

/** Something that says something, of about the type. */
function sampleOf(type: string): unknown {
  if (type.startsWith('list of ')) return [type === 'list of string' ? 'x' : { name: 'x' }];
  if (type.startsWith('map of ')) return { a: VALUES[type.slice('map of '.length)] };
  return VALUES[type] ?? { name: 'x' };
}

function withField(value: unknown, path: string, what: unknown, at = ''): JsonObject {
  const [step = '', ...rest] = path.split('.');
  const name = step.replace('[]', '');
  const object = isObject(value) ? value : {};
  const companions = Object.assign({}, ...COMPANIONS.filter(([inside]) => inside.test(at)).map(([, fields]) => fields));
  if (rest.length === 0) return { ...companions, ...object, [name]: what };
  const inner = withField(object[name], rest.join('.'), what, name);
  return { ...companions, ...object, [name]: step.endsWith('[]') ? [inner] : inner };
}
