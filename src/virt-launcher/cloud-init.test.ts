import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { cloudInitIso } from './cloud-init.ts';
import { createIso } from './iso9660.ts';

const folder = mkdtempSync(join(tmpdir(), 'cloud-init-'));
after(() => rmSync(folder, { recursive: true }));

const uuid = 'c3a4b7a5-9d5e-4d2c-8c63-6c1a7a5a6a01';
const layout = 'noCloud';
const vmi = { metadata: { name: 'db.prod', namespace: 'default' }, spec: { domain: { firmware: { uuid }, devices: {} } } };

/** Reads an image as a guest does: from the descriptor to the root folder to the files, and to the folders below. */
function readIso(iso: Buffer, kind: 'primary' | 'joliet'): Record<string, string> {
  const descriptor = iso.subarray((kind === 'primary' ? 16 : 17) * 2048);
  assert.equal(descriptor.toString('latin1', 1, 6), 'CD001');
  return readFolder(iso, kind, descriptor.subarray(156));
}

function readFolder(iso: Buffer, kind: 'primary' | 'joliet', self: Buffer): Record<string, string> {
  const start = self.readUInt32LE(2) * 2048;
  const folder = iso.subarray(start, start + self.readUInt32LE(10));
  const files: Record<string, string> = {};
  for (let at = 0; at < folder.length; ) {
    const length = folder[at] ?? 0;
    const entry = folder.subarray(at, at + length);
    at = length === 0 ? (Math.floor(at / 2048) + 1) * 2048 : at + length;
    if (length === 0 || (entry[32] === 1 && (entry[33] ?? 0) < 2)) continue;
    const name = entry.subarray(33, 33 + (entry[32] ?? 0));
    const text = kind === 'primary' ? name.toString('latin1') : Buffer.from(name).swap16().toString('utf16le');
    if ((entry[25] ?? 0) & 2)
      for (const [path, content] of Object.entries(readFolder(iso, kind, entry))) files[`${text}/${path}`] = content;
    else files[text] = iso.toString('utf8', entry.readUInt32BE(6) * 2048, entry.readUInt32BE(6) * 2048 + entry.readUInt32LE(10));
  }
  return files;
}

/** Paths of folders by the table that old readers use; both orders of bytes must say the same. */
function readPathTable(iso: Buffer): string[] {
  const descriptor = iso.subarray(16 * 2048);
  const bytes = descriptor.readUInt32LE(132);
  const [little, big] = [descriptor.readUInt32LE(140) * 2048, descriptor.readUInt32BE(148) * 2048];
  const paths: string[] = [];
  for (let at = 0; at < bytes; ) {
    const length = iso[little + at] ?? 0;
    assert.equal(iso.readUInt32LE(little + at + 2), iso.readUInt32BE(big + at + 2));
    assert.equal(iso.readUInt16LE(little + at + 6), iso.readUInt16BE(big + at + 6));
    const parent = paths[iso.readUInt16LE(little + at + 6) - 1];
    const name = iso.toString('latin1', little + at + 8, little + at + 8 + length);
    paths.push(parent === undefined ? '' : `${parent}/${name}`);
    at += 8 + length + (length % 2);
  }
  return paths;
}

for (const kind of ['primary', 'joliet'] as const) {
  test(`a guest reads cloud-init data by its ${kind} names`, () => {
    const iso = cloudInitIso({
      vmi,
      layout,
      source: { userData: '#!/bin/sh\necho ü\n', networkData: 'version: 2\n' },
      secretFolder: folder,
    });
    assert.deepEqual(readIso(iso, kind), {
      'meta-data': `{"instance-id":"${uuid}","local-hostname":"db"}\n`,
      'network-config': 'version: 2\n',
      'user-data': '#!/bin/sh\necho ü\n',
    });
  });
}

test('the image has the label cidata and whole pages', () => {
  const iso = cloudInitIso({ vmi, layout, source: { userData: 'x'.repeat(5000) }, secretFolder: folder });
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
  const encoded = cloudInitIso({
    vmi,
    layout,
    source: { userDataBase64: Buffer.from('#cloud-config').toString('base64') },
    secretFolder: folder,
  });
  assert.equal(readIso(encoded, 'joliet')['user-data'], '#cloud-config');
  for (const key of ['userData', 'userdata']) {
    writeFileSync(join(folder, key), `from ${key}`);
    const iso = cloudInitIso({ vmi, layout, source: { secretRef: { name: 's' } }, secretFolder: folder });
    assert.equal(readIso(iso, 'joliet')['user-data'], `from ${key}`);
  }
});

for (const kind of ['primary', 'joliet'] as const) {
  test(`a guest reads a config drive by its ${kind} names`, () => {
    const source = { userData: '#cloud-config\n', networkData: '{"links":[]}' };
    const iso = cloudInitIso({ vmi, layout: 'configDrive', source, publicKeys: ['ssh-ed25519 A', 'ssh-ed25519 B'] });
    assert.equal(iso.toString('latin1', 32808, 32816), 'config-2');
    assert.deepEqual(readIso(iso, kind), {
      'openstack/latest/meta_data.json': `{"instance_id":"db.prod.default","uuid":"${uuid}","hostname":"db","public_keys":{"0":"ssh-ed25519 A","1":"ssh-ed25519 B"}}\n`,
      'openstack/latest/network_data.json': '{"links":[]}',
      'openstack/latest/user_data': '#cloud-config\n',
    });
    assert.deepEqual(readPathTable(iso), ['', '/openstack', '/openstack/latest']);
  });
}

test('network data of a Secret is used as it is, in both layouts', () => {
  const networkFolder = join(folder, 'network');
  mkdirSync(networkFolder);
  const source = { networkDataSecretRef: { name: 'n' } };
  assert.throws(() => cloudInitIso({ vmi, layout, source, networkFolder }), {
    code: 'CLOUD_INIT_SECRET_INVALID',
    why: 'it has neither a key networkdata nor a key networkData',
  });
  writeFileSync(join(networkFolder, 'networkData'), 'version: 2');
  assert.equal(readIso(cloudInitIso({ vmi, layout, source, networkFolder }), 'joliet')['network-config'], 'version: 2');
  const drive = readIso(cloudInitIso({ vmi, layout: 'configDrive', source, networkFolder }), 'joliet');
  assert.equal(drive['openstack/latest/network_data.json'], 'version: 2');
});

test('faulty cloud-init data is refused', () => {
  assert.throws(() => cloudInitIso({ vmi, layout, source: { userDataBase64: 'not base64!' }, secretFolder: folder }), {
    code: 'CLOUD_INIT_INVALID',
  });
  const secretFolder = join(folder, 'none');
  assert.throws(() => cloudInitIso({ vmi, layout, source: { secretRef: { name: 's' } }, secretFolder }), {
    code: 'CLOUD_INIT_SECRET_INVALID',
  });
});

test('files of any size follow each other without overlap', () => {
  const files = Object.fromEntries([0, 1, 2047, 2048, 2049, 10_000].map((size) => [`f${size}`, 'a'.repeat(size)]));
  assert.deepEqual(readIso(createIso('any', files), 'joliet'), files);
});

test('more files than a sector of a folder can list are all found, in folders of any depth', () => {
  const names = Array.from({ length: 200 }, (_, index) => `${'n'.repeat(100)}${String(index).padStart(3, '0')}`);
  const files = Object.fromEntries(
    names.flatMap((name) => [
      [name, name],
      [`a/b/c/${name}`, `below ${name}`],
    ]),
  );
  for (const kind of ['primary', 'joliet'] as const) assert.deepEqual(readIso(createIso('any', files), kind), files);
  assert.deepEqual(readPathTable(createIso('any', { 'b/x': '', 'a/z/x': '', 'a/y/x': '' })), ['', '/a', '/b', '/a/y', '/a/z']);
});

test('a name that is no file of an ISO image is refused', () => {
  for (const name of ['', '..', 'a/../b', 'a//b', 'x'.repeat(104), 'ü', 'a\0b', 'a;1'])
    assert.throws(() => createIso('any', { [name]: '' }), { code: 'ISO_NAME_INVALID' }, name);
});

test('a config drive says where the devices with a tag are', () => {
  const devices = { interfaces: [{ name: 'default', masquerade: {}, macAddress: '02:11:22:33:44:55', tag: 'lan' }] };
  const tagged = { ...vmi, spec: { domain: { ...vmi.spec.domain, devices } } };
  const files = readIso(cloudInitIso({ vmi: tagged, layout: 'configDrive', source: { userData: 'x' } }), 'joliet');
  assert.deepEqual(JSON.parse(files['openstack/latest/meta_data.json'] ?? '').devices, [
    { type: 'nic', bus: 'pci', address: '0000:00:03.0', mac: '02:11:22:33:44:55', tags: ['lan'] },
  ]);
});
