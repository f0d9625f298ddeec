import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Volume } from '../vmi-spec-schema.ts';
import { claimOf, contentOf, defaultVolume, imageOf, sourceCauses, sourceNamesOf } from './source-of.ts';

const VOLUMES: readonly [volume: Volume, inThePod: object][] = [
  [{ name: 'a', containerDisk: { image: 'x:1' } }, { image: { image: 'x:1' } }],
  [{ name: 'a', registryDisk: { image: 'x:1' } }, { image: { image: 'x:1' } }],
  [{ name: 'a', persistentVolumeClaim: { claimName: 'c' } }, { claim: { claimName: 'c', isReadOnly: false } }],
  [{ name: 'a', persistentVolumeClaim: { claimName: 'c', readOnly: true } }, { claim: { claimName: 'c', isReadOnly: true } }],
  [{ name: 'a', ephemeral: { persistentVolumeClaim: { claimName: 'c' } } }, { claim: { claimName: 'c', isReadOnly: true } }],
  [{ name: 'a', emptyDisk: { capacity: '1Gi' } }, {}],
  [{ name: 'a', cloudInitNoCloud: { userData: '#!/bin/sh' } }, {}],
  [{ name: 'a', cloudInitNoCloud: { secretRef: { name: 's' } } }, { content: { secret: { secretName: 's' } } }],
];
for (const [volume, expected] of VOLUMES)
  test(`${JSON.stringify(volume)} is fine and needs ${JSON.stringify(expected)} in its Pod`, () => {
    assert.deepEqual(sourceCauses(volume, 'spec.volumes[0]'), []);
    const [image, claim, content] = [imageOf(volume), claimOf(volume), contentOf(volume)];
    assert.deepEqual({ ...(image && { image }), ...(claim && { claim }), ...(content && { content }) }, expected);
  });

test('every source of a volume that has two is named and checked', () => {
  const volume: Volume = { name: 'a', emptyDisk: { capacity: 0 }, containerDisk: { image: 'x', path: 'relative' } };
  assert.deepEqual(sourceNamesOf(volume), ['containerDisk', 'emptyDisk']);
  assert.deepEqual(
    sourceCauses(volume, 'spec.volumes[0]').map(({ field }) => field),
    ['spec.volumes[0].containerDisk.path', 'spec.volumes[0].emptyDisk.capacity'],
  );
});

test('defaults are filled in where the source is an object, and nothing else is touched', () => {
  assert.deepEqual(defaultVolume({ name: 'a', containerDisk: { image: 'x' } }), {
    name: 'a',
    containerDisk: { image: 'x', imagePullPolicy: 'Always' },
  });
  for (const odd of [
    { name: 'a', containerDisk: 'x' },
    { name: 'a', containerDisk: { image: 7 } },
    { name: 'a', emptyDisk: {} },
  ])
    assert.deepEqual(defaultVolume(odd), odd);
});
