/** docs/compatibility.md is true: every field that it calls refused is refused by name by the real API server, and no honoured one is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { KindName } from '../../api/kubevirt/kinds-table.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

type Row = { readonly path: string; readonly type: string; readonly verdict: string };
type Table = { readonly kind: KindName; readonly collection: string; readonly prefix: string; readonly object: () => JsonObject };

const VALUES: Readonly<Record<string, unknown>> = { boolean: true, integer: 600, string: 'x', quantity: '1Gi' };
/** What the schema asks for beside the field that is tried. */
const COMPANIONS: readonly [inside: RegExp, fields: JsonObject][] = [
  [/(disks|interfaces|networks|volumes|inputs|features|watchdog|sound|panicDevices)$/, { name: 'x' }],
  [/inputs$/, { type: 'tablet' }],
  [/(containerDisk|registryDisk)$/, { image: 'x' }],
  [/persistentVolumeClaim$/, { claimName: 'x' }],
  [/emptyDisk$/, { capacity: '1Gi' }],
  [/custom$/, { logical: 512, physical: 512 }],
  [/ports$/, { port: 80 }],
  [/sshPublicKey$/, { source: { secret: { secretName: 'x' } } }],
];

const TABLES: readonly Table[] = [
  { kind: 'VirtualMachineInstance', collection: 'default/virtualmachines', prefix: 'template.spec.', object: machine },
  { kind: 'VirtualMachine', collection: 'default/virtualmachines', prefix: '', object: machine },
  { kind: 'VirtualMachineInstanceReplicaSet', collection: 'default/virtualmachineinstancereplicasets', prefix: '', object: set },
  {
    kind: 'KubeVirt',
    collection: 'kubevirt/kubevirts',
    prefix: '',
    object: () => ({ apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt' }, spec: {} }),
  },
];

test('every kind that the page has a table of is tried', () => {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const kinds = [...page.matchAll(/^## (\w+) spec$/gm)].map(([, kind]) => kind);
  assert.deepEqual(kinds.sort(), TABLES.map(({ kind }) => kind).sort());
});

describe('the page about compatibility', { timeout: 300_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const { kind, collection, prefix, object } of TABLES) {
    test(`${kind}: what is called refused is refused by name, and nothing else is`, async () => {
      const rows = rowsOf(kind);
      assert.ok(rows.length > 5, `${kind}: the table is not there`);
      const untrue: string[] = [];
      for (const { path, type, verdict } of rows) {
        const field = `spec.${prefix}${path}`.replaceAll('[]', '[0]');
        const manifest = withField(object(), `spec.${prefix}${path}`, sampleOf(type));
        const { status, body } = await world.send('POST', `/apis/kubevirt.io/v1/namespaces/${collection}?dryRun=All`, manifest);
        const isRefused = (body.details?.causes ?? []).some((cause) => cause.field === field && /not supported here/.test(cause.message));
        if (isRefused !== verdict.startsWith('**refused**') || status >= 500)
          untrue.push(`${path}: ${verdict}, but ${status} ${body.message}`);
      }
      assert.deepEqual(untrue, []);
    });
  }
});

const template = { metadata: { labels: { a: 'b' } }, spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } };

function machine(): JsonObject {
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'x' }, spec: { runStrategy: 'Halted', template } };
}

function set(): JsonObject {
  const spec = { selector: { matchLabels: { a: 'b' } }, template };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstanceReplicaSet', metadata: { name: 'x' }, spec };
}

function rowsOf(kind: KindName): Row[] {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const text = page.split(`\n## ${kind} spec\n`)[1]?.split('\n## ')[0] ?? '';
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
