import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dataVolumeTemplateCauses, validateDataVolume } from './validate-data-volume.ts';

const storage = { resources: { requests: { storage: '1Gi' } } };
const http = { http: { url: 'https://disks.example.com/x.qcow2' } };
const wrong = (spec: object) =>
  validateDataVolume({ metadata: { name: 'x', namespace: 'team' }, spec } as never).map(({ field, message }) => `${field}: ${message}`);

test('every source is taken', () => {
  const sources = [
    http,
    { http: { ...http.http, checksum: `sha256:${'a'.repeat(64)}` } },
    { registry: { url: 'docker://quay.io/disks/x' } },
    { upload: {} },
    { blank: {} },
    { pvc: { namespace: 'team', name: 'golden' } },
    { snapshot: { namespace: 'team', name: 'before' } },
  ];
  for (const source of sources) assert.deepEqual(wrong({ source, storage }), []);
  assert.deepEqual(wrong({ source: { pvc: { namespace: 'team', name: 'golden' } }, storage: {} }), [], 'as large as what it is a copy of');
});

const REFUSED: readonly [fact: string, spec: object, field: string][] = [
  ['it says how large it is', { source: http, storage: {} }, 'spec.storage.resources.requests.storage'],
  ['it has a PVC or storage', { source: http }, 'spec.storage'],
  ['it does not have both', { source: http, storage, pvc: storage }, 'spec.pvc'],
  ['it has a source', { storage }, 'spec.source'],
  ['it has one source', { source: { ...http, blank: {} }, storage }, 'spec.source'],
  ['an address is one of the web', { source: { http: { url: 'file:///etc/passwd' } }, storage }, 'spec.source.http.url'],
  ['an address has no password', { source: { http: { url: 'https://me:secret@disks.example.com/' } }, storage }, 'spec.source.http.url'],
  ['a checksum is whole', { source: { http: { ...http.http, checksum: 'sha256:12' } }, storage }, 'spec.source.http.checksum'],
  ['an image is named with docker://', { source: { registry: { url: 'quay.io/x' } }, storage }, 'spec.source.registry.url'],
  [
    'nothing is copied out of another namespace',
    { source: { pvc: { namespace: 'other', name: 'x' } }, storage },
    'spec.source.pvc.namespace',
  ],
  ['a block device is not filled', { source: http, storage: { ...storage, volumeMode: 'Block' } }, 'spec.storage.volumeMode'],
  ['a PVC is not chosen by labels', { source: http, pvc: { ...storage, selector: {} } }, 'spec.pvc.selector'],
  ['a size is an amount', { source: http, pvc: { resources: { requests: { storage: 'much' } } } }, 'spec.pvc.resources.requests.storage'],
];
for (const [fact, spec, field] of REFUSED)
  test(`of a DataVolume: ${fact}`, () =>
    assert.deepEqual(
      wrong(spec).map((cause) => cause.split(':')[0]),
      [field],
    ));

const machine = (templates: readonly object[], volumes: readonly object[]) =>
  dataVolumeTemplateCauses({
    metadata: { name: 'vm', namespace: 'team' },
    spec: { dataVolumeTemplates: templates, template: { spec: { volumes } } },
  } as never).map(({ field }) => field);
const template = { metadata: { name: 'root' }, spec: { source: http, storage } };
const used = [{ name: 'root', dataVolume: { name: 'root' } }];

test('a template of a machine is used by one of its volumes, and has a name of its own', () => {
  assert.deepEqual(machine([template], used), []);
  assert.deepEqual(machine([template], []), ['spec.dataVolumeTemplates[0]']);
  assert.deepEqual(machine([{ ...template, metadata: {} }], used), ['spec.dataVolumeTemplates[0].metadata.name']);
  assert.deepEqual(machine([template, template], used), ['spec.dataVolumeTemplates[1].metadata.name']);
  const elsewhere = { ...template, metadata: { name: 'root', namespace: 'other' } };
  assert.deepEqual(machine([elsewhere], used), ['spec.dataVolumeTemplates[0].metadata.namespace']);
  assert.deepEqual(machine([{ ...template, spec: {} }], used), [
    'spec.dataVolumeTemplates[0].spec.storage',
    'spec.dataVolumeTemplates[0].spec.source',
  ]);
});
