/** Instances for tests: a builder that states only what matters, and a generator of anything that the schema allows. */
import fc from 'fast-check';
import { type VmiSpec, vmiSpecSchema } from '../../api/kubevirt/vmi-spec-schema.ts';
import type { ConvertInput, DiskImage } from './input.ts';

export type Devices = VmiSpec['domain']['devices'];
export type Schema = {
  type?: string;
  enum?: string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema;
  'x-kubernetes-list-map-keys'?: string[];
  minimum?: number;
  maximum?: number;
};

/** An instance with 64M of memory and these devices; every disk gets an image of the name of its volume. */
export function input(devices: Devices = {}, spec: Partial<VmiSpec> = {}, domain: Partial<VmiSpec['domain']> = {}): ConvertInput {
  const vmi = {
    metadata: { name: 'testvm', namespace: 'default', uid: '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001' },
    spec: { domain: { resources: { requests: { memory: '64M' } }, ...domain, devices }, ...spec },
  };
  return { vmi, host: { accel: 'tcg' }, files: { images: imagesFor(devices) } };
}

/** An overlay on a raw base for every disk and every volume; a device for a LUN. */
export function imagesFor({ disks = [] }: Devices, volumes: NonNullable<VmiSpec['volumes']> = []): ReadonlyMap<string, DiskImage> {
  const overlay = {
    path: '../private/o.qcow2',
    format: 'qcow2',
    base: { path: '../private/b', format: 'raw' },
    isEphemeral: true,
  } as const;
  const device = { path: '../private/b', format: 'raw', isDevice: true } as const;
  const luns = new Set(disks.filter(({ lun }) => lun).map(({ name, volumeName }) => volumeName || name));
  const names = [...disks.map(({ name, volumeName }) => volumeName || name), ...volumes.map(({ name }) => name)];
  return new Map(names.map((name) => [name, luns.has(name) ? device : overlay]));
}

/** The values that follow an option, parsed when they are JSON. */
export function valuesOf(args: readonly string[], option: string): unknown[] {
  return args.filter((_, index) => args[index - 1] === option).map((text) => (text.startsWith('{') ? JSON.parse(text) : text));
}

const HOSTILE = [
  ',',
  ',,',
  '=',
  ' ',
  '\n',
  '\0',
  '-drive',
  '-device virtio',
  'a,id=b',
  '{"driver":"x"}',
  '../..',
  '$(id)',
  '\ud800',
  'ü',
  '__proto__',
];

/** Text that means harm, text that means nothing, and text that fits. */
export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.array(fc.constantFrom(...HOSTILE, 'file=/etc/shadow', 'x'), { maxLength: 4 }).map((parts) => parts.join('')),
  fc.constantFrom('root', 'data', 'default', '10.0.2.0/24', '02:11:22:33:44:55', 'q35', '7b6a9d3e-5c8f-4a3b-9d53-0d6a4ee4a001'),
);

const amount = fc.oneof(fc.constantFrom('64M', '128Mi', '1', '-5', '500m', '1e30', '2', '', 'many'), fc.integer(), hostileText);

/** Any spec that fits the published schema (and texts that fit no pattern), by walking it. */
export const anySpec = arbitraryOf(vmiSpecSchema as unknown as Schema) as fc.Arbitrary<VmiSpec>; // the schema's own static type

function arbitraryOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.anyOf) return amount;
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'string':
      return hostileText;
    case 'integer':
      return fc.oneof(smallInteger(schema.minimum), fc.integer({ min: schema.minimum, max: schema.maximum }));
    case 'boolean':
      return fc.boolean();
    case 'array':
      return listOf(schema);
    default:
      return objectOf(schema);
  }
}

/** No two items have the same key where the schema says that there is one. */
function listOf({ items = { type: 'object' }, 'x-kubernetes-list-map-keys': keys }: Schema): fc.Arbitrary<unknown> {
  const item = arbitraryOf(items);
  if (!keys) return fc.array(item, { maxLength: 5 });
  const keyOf = (value: unknown) => JSON.stringify(keys.map((key) => (value as Record<string, unknown>)[key])); // items with keys are objects
  return fc.uniqueArray(item, { maxLength: 5, selector: keyOf });
}

/** Near the least, or a power of two above it. */
function smallInteger(minimum = 0): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer({ min: minimum, max: minimum + 4 }),
    fc.constantFrom(512, 4096).map((size) => Math.max(size, minimum)),
  );
}

function objectOf({ properties, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> {
  if (additionalProperties)
    return fc.dictionary(fc.oneof(fc.constantFrom('memory', 'cpu'), hostileText), arbitraryOf(additionalProperties), { maxKeys: 3 });
  const fields = Object.fromEntries(Object.entries(properties ?? {}).map(([key, value]) => [key, arbitraryOf(value)]));
  return fc.record(fields, { requiredKeys: required.filter((key) => key in fields) });
}
