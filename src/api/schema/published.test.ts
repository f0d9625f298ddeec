import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareFields, type PublishedTypes, withRefusedFields } from './published.ts';

const TYPES: PublishedTypes = {
  Machine: { disks: '[]Disk', firmware: 'Firmware~', labels: '{}string', size: 'quantity', sound: 'Sound' },
  Disk: { lun: 'Lun', name: 'string', tags: '[]string' },
  Firmware: { isSecure: 'boolean', uuid: 'string' },
  Lun: { bus: 'string' },
};
const OURS = {
  type: 'object',
  properties: {
    disks: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' }, oldName: { type: 'string' } } } },
    firmware: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    labels: { type: 'object', additionalProperties: { type: 'string' } },
  },
};

test('every field is honoured, refused or ours; what is kept as a whole is not looked into', () => {
  const words = compareFields(OURS, 'Machine', TYPES).map(({ path, type, isHonoured }) => `${path} ${type ? isHonoured : 'ours'}`);
  assert.deepEqual(words, [
    'disks true',
    'disks[].lun false',
    'disks[].name true',
    'disks[].oldName ours',
    'disks[].tags false',
    'firmware true',
    'labels true',
    'size false',
    'sound false',
  ]);
});

test('what is refused is kept by the schema, at any depth, and says so', () => {
  const published = { types: TYPES, type: 'Machine', describe: (path: string) => `${path} is refused.` };
  const schema = withRefusedFields(OURS, published) as { properties: Record<string, { items?: { properties: Record<string, object> } }> };
  const anything = { 'x-kubernetes-preserve-unknown-fields': true };
  assert.deepEqual(schema.properties['disks']?.items?.properties['lun'], {
    type: 'object',
    description: 'disks[].lun is refused.',
    ...anything,
  });
  assert.deepEqual(schema.properties['disks']?.items?.properties['tags'], {
    type: 'array',
    description: 'disks[].tags is refused.',
    items: anything,
  });
  assert.deepEqual(schema.properties['size'], { description: 'size is refused.', 'x-kubernetes-int-or-string': true });
  assert.deepEqual(schema.properties['firmware'], OURS.properties.firmware);
});
