/** docs/compatibility.md is true: every field that it calls refused is refused by name by the real API server, and no honoured one is. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { isObject, type JsonObject } from '../../base/json.ts';
import { type AdmissionWorld, startAdmissionWorld } from './admission-world.testing.ts';

type Row = { readonly path: string; readonly type: string; readonly verdict: string };
type Table = { readonly section: string; readonly collection: string; readonly prefix: string; readonly object: () => JsonObject };

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
  { section: 'VirtualMachineInstanceSpec', collection: 'default/virtualmachines', prefix: 'template.spec.', object: machine },
  { section: 'VirtualMachineSpec', collection: 'default/virtualmachines', prefix: '', object: machine },
  {
    section: 'KubeVirtSpec',
    collection: 'kubevirt/kubevirts',
    prefix: '',
    object: () => ({ apiVersion: 'kubevirt.io/v1', kind: 'KubeVirt', metadata: { name: 'kubevirt' }, spec: {} }),
  },
];

describe('the page about compatibility', { timeout: 300_000 }, () => {
  let world: AdmissionWorld;
  before(async () => {
    world = await startAdmissionWorld();
  });
  after(() => world.close());

  for (const { section, collection, prefix, object } of TABLES) {
    test(`${section}: what is called refused is refused by name, and nothing else is`, async () => {
      const rows = rowsOf(section);
      assert.ok(rows.length > 5, `${section}: the table is not there`);
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

function machine(): JsonObject {
  const template = { spec: { domain: { memory: { guest: '64Mi' }, devices: {} } } };
  return { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: { name: 'x' }, spec: { runStrategy: 'Halted', template } };
}

function rowsOf(section: string): Row[] {
  const page = readFileSync('docs/compatibility.md', 'utf8');
  const text = page.split(`<!-- begin generated: ${section} -->`)[1]?.split('<!-- end generated')[0] ?? '';
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
