import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../../base/json.ts';
import type { VirtualMachineInstancePreset } from '../kinds/vmi-preset.ts';
import { applyPresets } from './apply-presets.ts';

type Domain = Partial<NonNullable<VirtualMachineInstancePreset['spec']['domain']>>;
const SMALL = { size: 'small' };

function preset(name: string, domain: Domain, matchLabels: Record<string, string> = SMALL): VirtualMachineInstancePreset {
  const spec = { selector: { matchLabels }, domain: { devices: {}, ...domain } };
  return { apiVersion: 'kubevirt.io/v1alpha3', kind: 'VirtualMachineInstancePreset', metadata: { name }, spec };
}
function instance(domain: JsonObject, metadata: JsonObject = {}): JsonObject {
  return {
    kind: 'VirtualMachineInstance',
    metadata: { name: 'a', labels: SMALL, ...metadata },
    spec: { domain: { devices: {}, ...domain } },
  };
}
function outcome(object: JsonObject, ...presets: VirtualMachineInstancePreset[]) {
  const result = applyPresets(object, presets);
  if ('conflicts' in result) return result.conflicts.map(({ presets: [one, other], path }) => `${one} ${other} ${path}`);
  const { metadata, spec } = result.object as { metadata: JsonObject; spec: { domain: JsonObject } };
  const { devices, ...domain } = spec.domain;
  return { domain: { ...domain, ...(Object.keys(devices as object).length > 0 && { devices }) }, annotations: metadata['annotations'] };
}
const applied = (...names: string[]) =>
  Object.fromEntries(names.map((name) => [`virtualmachinepreset.kubevirt.io/${name}`, 'kubevirt.io/v1']));
const OVERRIDDEN = 'virtualmachineinstancepresets.admission.kubevirt.io/overridden';
const EXCLUDE = 'virtualmachineinstancepresets.admission.kubevirt.io/exclude';
const cpu = preset('cpu', { cpu: { cores: 2 } });
const memory = preset('memory', { resources: { requests: { memory: '64Mi', cpu: '1' } } });

const ROWS: [name: string, object: JsonObject, presets: VirtualMachineInstancePreset[], expected: unknown][] = [
  ['what is open is given', instance({}), [cpu], { domain: { cpu: { cores: 2 } }, annotations: applied('cpu') }],
  [
    'requests are parts of their own',
    instance({ resources: { requests: { cpu: '2' }, limits: { cpu: '2' } } }),
    [memory],
    {
      domain: { resources: { requests: { cpu: '2', memory: '64Mi' }, limits: { cpu: '2' } } },
      annotations: { ...applied('memory'), [OVERRIDDEN]: 'memory: resources.requests.cpu' },
    },
  ],
  [
    'every part that presets give',
    instance({}),
    [
      preset('all', {
        clock: { utc: {} },
        features: { acpi: {} },
        firmware: { serial: 's' },
        ioThreadsPolicy: 'auto',
        devices: { watchdog: { name: 'w', i6300esb: { action: 'reset' } } },
      }),
    ],
    {
      domain: {
        clock: { utc: {} },
        features: { acpi: {} },
        firmware: { serial: 's' },
        ioThreadsPolicy: 'auto',
        devices: { watchdog: { name: 'w', i6300esb: { action: 'reset' } } },
      },
      annotations: applied('all'),
    },
  ],
  [
    'what the instance says itself is left as it is',
    instance({ cpu: { cores: 1 } }),
    [cpu],
    { domain: { cpu: { cores: 1 } }, annotations: { [OVERRIDDEN]: 'cpu: cpu' } },
  ],
  [
    'the same words are no contradiction',
    instance({ cpu: { cores: 2 } }),
    [cpu],
    { domain: { cpu: { cores: 2 } }, annotations: applied('cpu') },
  ],
  ['several are applied', instance({}), [memory, cpu], { domain: { cpu: { cores: 2 }, resources: { requests: { memory: '64Mi', cpu: '1' } } }, annotations: applied('cpu', 'memory') }], // biome-ignore format: one row
  ['other labels are not meant', instance({}, { labels: { size: 'large' } }), [cpu], { domain: {}, annotations: undefined }],
  ['an empty selector means all', instance({}, { labels: undefined }), [preset('any', { cpu: { cores: 3 } }, {})], { domain: { cpu: { cores: 3 } }, annotations: applied('any') }], // biome-ignore format: one row
  ['whoever is excluded is left alone', instance({}, { annotations: { [EXCLUDE]: 'true' } }), [cpu], { domain: {}, annotations: { [EXCLUDE]: 'true' } }], // biome-ignore format: one row
  ['presets that contradict each other', instance({ cpu: { cores: 1 } }), [preset('zz', { cpu: { cores: 4 } }), cpu], ['cpu zz cpu']],
  ['presets that say the same do not', instance({}), [cpu, preset('also', { cpu: { cores: 2 } })], { domain: { cpu: { cores: 2 } }, annotations: applied('also', 'cpu') }], // biome-ignore format: one row
  ['a preset that gives nothing leaves no trace', instance({}), [preset('none', { cpu: {} })], { domain: {}, annotations: undefined }],
  ['a name too long for an annotation is applied all the same', instance({}), [preset('x'.repeat(64), { cpu: { cores: 2 } })], { domain: { cpu: { cores: 2 } }, annotations: {} }], // biome-ignore format: one row
];
for (const [name, object, presets, expected] of ROWS)
  test(name, () => {
    const before = structuredClone(object);
    assert.deepEqual(outcome(object, ...presets), expected);
    assert.deepEqual(object, before, 'what was sent is not changed');
  });

test('a preset that goes gives nothing any more', () => {
  const leaving = { ...cpu, metadata: { ...cpu.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
  assert.deepEqual(outcome(instance({}), leaving), { domain: {}, annotations: undefined });
});

test('an instance without a domain is for its schema to refuse', () => {
  const object = { metadata: { name: 'a', labels: SMALL }, spec: 'x' };
  assert.deepEqual(applyPresets(object, [cpu]), { object, overridden: [] });
});

test('a thousand presets that are overridden are told in a bounded note', () => {
  const many = Array.from({ length: 1_000 }, (_, at) => preset(`p${at}`, { cpu: { cores: 2 } }));
  const result = applyPresets(instance({ cpu: { cores: 1 } }), many);
  assert.ok('object' in result);
  const { annotations } = result.object['metadata'] as { annotations: Record<string, string> };
  assert.equal(annotations[OVERRIDDEN]?.length, 1_000);
});
