import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { buildImages } from '../../tools/image/build-images.ts';

const MIB = 2 ** 20;

describe('the images of the product', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-images-'));
  after(() => rmSync(folder, { recursive: true }));

  test('two builds give the same digests, and no image is larger than it should be', async () => {
    const build = (name: string) => buildImages({ registry: 'images.local/test', tag: '1', into: join(folder, name) });
    const [first, second] = [await build('first'), await build('second')];
    const digests = (images: typeof first) => images.map(({ reference, digest }) => `${reference} ${digest}`);
    assert.deepEqual(digests(first), digests(second));
    assert.deepEqual(
      first.map(({ reference }) => reference),
      ['virt-launcher', 'kubevirt', 'virt-importer', 'vmctl', 'libguestfs-tools'].map((name) => `images.local/test/${name}:1`),
    );
    for (const { reference, bytes, unpackedBytes } of first)
      assert.ok(bytes < 80 * MIB && unpackedBytes < 200 * MIB, `${reference} has grown to ${Math.round(bytes / MIB)} MiB`);
  });
});
