import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { linkCloudInit } from './link-cloud-init.ts';

const root = mkdtempSync(join(tmpdir(), 'link-cloud-init-'));
after(() => rmSync(root, { recursive: true }));
const folder = join(root, 'links');
const path = join(root, 'disk1.iso');
writeFileSync(path, 'iso');
const images = new Map(['seed', 'drive', 'root'].map((name) => [name, { path, format: 'raw' as const }]));
const volumes = [
  { name: 'root', emptyDisk: { capacity: '1Mi' } },
  { name: 'seed', cloudInitNoCloud: { userData: 'x' } },
  { name: 'drive', cloudInitConfigDrive: { userData: 'x' } },
];
const vmi = (name: string) => ({ metadata: { namespace: 'ns', name }, spec: { domain: { devices: {} }, volumes } });

test('a cloud-init disk is found where KubeVirt has it, by every try again', () => {
  for (let tries = 0; tries < 2; tries += 1) linkCloudInit(vmi('db.prod'), { images, folder });
  assert.deepEqual(readdirSync(join(folder, 'cloud-init-data/ns/db.prod')), ['configdrive.iso', 'noCloud.iso']);
  assert.equal(readFileSync(join(folder, 'cloud-init-data/ns/db.prod/noCloud.iso'), 'utf8'), 'iso');
});

test('what is no name of an object becomes no path', () => {
  linkCloudInit(vmi('../../../x'), { images, folder });
  assert.throws(() => readdirSync(folder), { code: 'ENOENT' });
});
