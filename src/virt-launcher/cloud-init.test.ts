import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cloudInitIso } from './cloud-init.ts';
import { createIso } from './iso9660.ts';

const folder = mkdtempSync(join(tmpdir(), 'cloud-init-'));
after(() => rmSync(folder, { recursive: true }));

const uuid = 'c3a4b7a5-9d5e-4d2c-8c63-6c1a7a5a6a01';
const vmi = { metadata: { name: 'db.prod', namespace: 'default' }, spec: { domain: { firmware: { uuid }, devices: {} } } };

/** Reads an image as a guest does: from the descriptor to the root folder to the files. */
function readIso(iso: Buffer, kind: 'primary' | 'joliet'): Record<string, string> {
  const descriptor = iso.subarray((kind === 'primary' ? 16 : 17) * 2048);
  assert.equal(descriptor.toString('latin1', 1, 6), 'CD001');
  const root = iso.subarray(descriptor.readUInt32LE(156 + 2) * 2048);
  const files: Record<string, string> = {};
  for (let at = 0; root[at]; at += root[at] ?? 0) {
    const name = root.subarray(at + 33, at + 33 + (root[at + 32] ?? 0));
    if ((root[at + 25] ?? 0) & 2) continue;
    const text = kind === 'primary' ? name.toString('latin1') : Buffer.from(name).swap16().toString('utf16le');
    const start = root.readUInt32BE(at + 6) * 2048;
    files[text] = iso.toString('utf8', start, start + root.readUInt32LE(at + 10));
  }
  return files;
}

for (const kind of ['primary', 'joliet'] as const) {
  test(`a guest reads cloud-init data by its ${kind} names`, () => {
    const iso = cloudInitIso({ vmi, source: { userData: '#!/bin/sh\necho ü\n', networkData: 'version: 2\n' }, secretFolder: folder });
    assert.deepEqual(readIso(iso, kind), {
      'meta-data': `{"instance-id":"${uuid}","local-hostname":"db"}\n`,
      'network-config': 'version: 2\n',
      'user-data': '#!/bin/sh\necho ü\n',
    });
  });
}

test('the image has the label cidata and whole pages', () => {
  const iso = cloudInitIso({ vmi, source: { userData: 'x'.repeat(5000) }, secretFolder: folder });
  const path = join(folder, 'seed.iso');
  writeFileSync(path, iso);
  assert.equal(iso.toString('latin1', 32808, 32814), 'cidata');
  assert.equal(iso.length % 4096, 0);
  assert.equal(
    execFileSync('blkid', ['-p', '-o', 'value', '-s', 'LABEL', path], { encoding: 'utf8', env: { PATH: '/usr/sbin:/sbin:/usr/bin' } }),
    'cidata\n',
  );
});

test('encoded data and data of a Secret are used as they are', () => {
  const encoded = cloudInitIso({ vmi, source: { userDataBase64: Buffer.from('#cloud-config').toString('base64') }, secretFolder: folder });
  assert.equal(readIso(encoded, 'joliet')['user-data'], '#cloud-config');
  for (const key of ['userData', 'userdata']) {
    writeFileSync(join(folder, key), `from ${key}`);
    const iso = cloudInitIso({ vmi, source: { secretRef: { name: 's' } }, secretFolder: folder });
    assert.equal(readIso(iso, 'joliet')['user-data'], `from ${key}`);
  }
});

test('faulty cloud-init data is refused', () => {
  assert.throws(() => cloudInitIso({ vmi, source: { userDataBase64: 'not base64!' }, secretFolder: folder }), {
    code: 'CLOUD_INIT_INVALID',
  });
  const secretFolder = join(folder, 'none');
  assert.throws(() => cloudInitIso({ vmi, source: { secretRef: { name: 's' } }, secretFolder }), { code: 'CLOUD_INIT_SECRET_INVALID' });
});

test('files of any size follow each other without overlap', () => {
  const files = Object.fromEntries([0, 1, 2047, 2048, 2049, 10_000].map((size) => [`f${size}`, 'a'.repeat(size)]));
  assert.deepEqual(readIso(createIso('any', files), 'joliet'), files);
});
