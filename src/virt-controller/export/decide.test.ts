import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod } from '../../api/core/pod.ts';
import type { PersistentVolumeClaim } from '../../api/core/volume.ts';
import type { VirtualMachineExport } from '../../api/kubevirt/kinds/vm-export.ts';
import { controllerReferenceTo } from '../../api/meta.ts';
import { explain } from '../../reconcile/decision.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { decideVmExport } from './decide.ts';
import { exporterPodFor, exportServiceFor } from './export-pod.ts';
import type { ObservedVmExport } from './observed.ts';
import { exportSourceOf, type SourceParts } from './source.ts';

const NOW = Date.parse('2026-01-01T00:00:10Z');
const claim: PersistentVolumeClaim = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'disk', namespace: 'default', uid: 'c-1' },
  spec: { resources: { requests: { storage: '1Gi' } } },
  status: { phase: 'Bound' },
};

function exported(status: VirtualMachineExport['status'] = { tokenSecretRef: 't' }, spec: object = {}): VirtualMachineExport {
  return {
    apiVersion: 'export.kubevirt.io/v1',
    kind: 'VirtualMachineExport',
    metadata: { name: 'out', namespace: 'default', uid: 'e-1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { source: { kind: 'PersistentVolumeClaim', name: 'disk' }, ...spec },
    ...(status && { status }),
  };
}

function observed(change: Partial<ObservedVmExport> = {}): ObservedVmExport {
  return { export: exported(), source: { volumes: [{ name: 'disk', claimName: 'disk', claim }] }, image: 'importer', now: NOW, ...change };
}

const pod = (phase: 'Pending' | 'Running' | 'Failed'): Pod => ({ ...exporterPodFor(observed(), 't'), status: { phase } });
const service = exportServiceFor(exported());
const foreign = { ...service, metadata: { ...service.metadata, ownerReferences: [] } };
const state = { cert: 'PEM', volumes: [{ name: 'disk', sizeBytes: 1 }] };
const waiting = { reason: 'InUse', message: 'it is in use' } as const;
const told = (phase: string) => new RegExp(`^patch VirtualMachineExport status default/out: .*${phase}`);
const look = /^look again/;

const RULES: readonly [fact: string, seen: Partial<ObservedVmExport>, lines: RegExp[]][] = [
  ['what goes is left alone', { export: { ...exported(), metadata: { ...exported().metadata, deletionTimestamp: 'now' } } }, []],
  ['after its time it goes', { now: NOW + 2 * 3600_000 }, [/^delete VirtualMachineExport .*its time is over/]],
  ['its own time holds', { export: exported(undefined, { ttlDuration: '5s' }) }, [/^delete VirtualMachineExport/]],
  ['a token that is named is used', { export: exported({}, { tokenSecretRef: 'mine' }) }, [told('begins'), look]],
  [
    'a token is made where none is named',
    { export: exported({}), fresh: { token: 'x', suffix: 'y' } },
    [/^create Secret default\/virt-export-out-y/, told('begins'), look],
  ],
  ['a source in use is waited for', { source: { volumes: [], waiting } }, [told('in use'), look]],
  [
    'a source that comes into use is let go',
    { source: { volumes: [], waiting }, pod: pod('Running') },
    [/^delete Pod/, told('in use'), look],
  ],
  ['without disks there is nothing to do', { source: { volumes: [] } }, [told('no disks'), look]],
  ['a Service of somebody else is not taken', { service: foreign }, [told('not of this export'), look]],
  ['it gets a Service and a Pod', {}, [/^create Service/, /^create Pod/, told('does not run yet'), look]],
  [
    'a snapshot gets a PVC for the time being',
    { service, pod: pod('Pending'), source: { volumes: [{ name: 'disk', claimName: 'tmp', made: claim }] } },
    [/^create PersistentVolumeClaim/, told('does not run yet'), look],
  ],
  ['a Pod that failed is made again', { service, pod: pod('Failed') }, [/^delete Pod/, look]],
  ['a Pod that says nothing is waited for', { service, pod: pod('Running') }, [told('does not serve yet'), look]],
  ['what a Pod cannot is said', { service, pod: pod('Running'), state: { volumes: [], failure: 'no disk' } }, [told('no disk'), look]],
  ['a Pod that serves makes it ready', { service, pod: pod('Running'), state }, [told('can be taken'), look]],
];
for (const [fact, seen, lines] of RULES)
  test(fact, () => {
    const found = explain(decideVmExport(observed(seen)));
    assert.equal(found.length, lines.length, found.join('\n'));
    for (const [at, pattern] of lines.entries()) assert.match(found[at] ?? '', pattern);
  });

test('links are there while it is ready, and said once', () => {
  const seen = { service, pod: pod('Running'), state, external: { url: 'https://127.0.0.1:1', cert: 'CA' } };
  const [action] = decideVmExport(observed(seen)).actions;
  const { status } = (action as unknown as { patch: { status: NonNullable<VirtualMachineExport['status']> } }).patch;
  assert.deepEqual(status.links?.internal?.volumes?.[0], {
    name: 'disk',
    formats: [
      { format: 'raw', url: 'https://virt-export-out.default.svc/volumes/disk/disk.img' },
      { format: 'gzip', url: 'https://virt-export-out.default.svc/volumes/disk/disk.img.gz' },
    ],
  });
  assert.equal(status.ttlExpirationTime, '2026-01-01T02:00:00Z');
  const now = { ...exported(), status: { tokenSecretRef: 't', ...status } };
  assert.deepEqual(decideVmExport(observed({ ...seen, export: now })).actions, []);
  const [again] = decideVmExport(observed({ ...seen, export: now, source: { volumes: [], waiting } })).actions.slice(1);
  assert.equal((again as unknown as { patch: { status: { links: unknown } } }).patch.status.links, null);
});

test('a volume that is no disk has links to its files', () => {
  const seen = { service, pod: pod('Running'), state: { cert: 'PEM', volumes: [{ name: 'disk', sizeBytes: 1, hasFiles: true }] } };
  const [action] = decideVmExport(observed(seen)).actions;
  const { status } = (action as unknown as { patch: { status: NonNullable<VirtualMachineExport['status']> } }).patch;
  assert.deepEqual(status.links?.internal?.volumes?.[0]?.formats, [
    { format: 'dir', url: 'https://virt-export-out.default.svc/volumes/disk/dir' },
    { format: 'tar.gz', url: 'https://virt-export-out.default.svc/volumes/disk/disk.tar.gz' },
  ]);
});

test('a PVC in Block mode is shown to the Pod as a device', () => {
  const block = { ...claim, spec: { ...claim.spec, volumeMode: 'Block' as const } };
  const volumes = [
    { name: 'disk', claimName: 'disk', claim },
    { name: 'raw', claimName: 'raw', claim: block },
  ];
  const { containers } = exporterPodFor(observed({ source: { volumes } }), 't').spec;
  const { volumeMounts = [], volumeDevices, env = [] } = containers[0] ?? {};
  assert.deepEqual(
    volumeMounts.map(({ name }) => name).filter((name) => name.startsWith('disk-')),
    ['disk-0'],
  );
  assert.deepEqual(volumeDevices, [{ name: 'disk-1', devicePath: '/dev/virt-exporter-1' }]);
  assert.match(env[0]?.value ?? '', /"name":"raw","storage":"1Gi","isDevice":true/);
});

const user = {
  ...pod('Running'),
  metadata: { name: 'other' },
  spec: { containers: [], volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'disk' } }] },
};
const uploading = { ...claim, metadata: { ...claim.metadata, annotations: { 'cdi.kubevirt.io/storage.upload.target': '' } } };
const of = (kind: string, name: string) => exported(undefined, { source: { kind, name } });
const disk = vm('Halted');
const withDisk = {
  ...disk,
  spec: { ...disk.spec, template: { spec: { ...disk.spec.template.spec, volumes: [{ name: 'root', dataVolume: { name: 'disk' } }] } } },
};

const SOURCES: readonly [fact: string, parts: Partial<SourceParts>, waits: RegExp | undefined][] = [
  ['a PVC', {}, undefined],
  ['a PVC that is not there', { claims: new Map() }, /does not exist/],
  ['a PVC in use', { pods: [user] }, /in use by Pod other/],
  ['a PVC that an ended Pod used', { pods: [{ ...user, status: { phase: 'Succeeded' } }] }, undefined],
  ['a PVC that waits for an upload', { claims: new Map([['disk', uploading]]) }, /not filled/],
  ['a PVC whose DataVolume is not whole', { unfilled: new Set(['disk']) }, /not filled/],
  ['a PVC without a volume', { claims: new Map([['disk', { ...claim, status: { phase: 'Pending' } }]]) }, /not bound/],
  ['a machine', { export: of('VirtualMachine', 'db'), vm: withDisk }, undefined],
  ['a machine that is not there', { export: of('VirtualMachine', 'db') }, /does not exist/],
  ['a machine that runs', { export: of('VirtualMachine', 'db'), vm: withDisk, vmi: vmi('Running') }, /is running: stop it/],
  ['a machine that has ended', { export: of('VirtualMachine', 'db'), vm: withDisk, vmi: vmi('Succeeded') }, undefined],
  ['a snapshot that is not there', { export: of('VirtualMachineSnapshot', 'before') }, /does not exist/],
];
for (const [fact, parts, waits] of SOURCES)
  test(`${fact} ${waits ? 'is waited for' : 'is exported'}`, () => {
    const all: SourceParts = { export: exported(), claims: new Map([['disk', claim]]), pods: [], unfilled: new Set(), ...parts };
    const { waiting: found } = exportSourceOf(all);
    if (waits) assert.match(found?.message ?? '', waits);
    else assert.equal(found, undefined);
  });

test('what an export makes goes with it', () => {
  const owner = controllerReferenceTo(exported());
  assert.deepEqual(service.metadata.ownerReferences, [owner]);
  assert.deepEqual(pod('Pending').metadata.ownerReferences, [owner]);
});
