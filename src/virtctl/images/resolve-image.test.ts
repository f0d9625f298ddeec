import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Catalogue, catalogueOf } from '../../images/catalogue/catalogue.ts';
import { parseCatalogue } from '../../images/catalogue/parse-catalogue.ts';
import { resolveImage, stemOf } from './resolve-image.ts';

const URL_OF_WEB = 'https://images.example.com/web.qcow2';
const images = {
  web: { alias: 'web:2' },
  'web:2': { sources: { amd64: { url: URL_OF_WEB, digest: `sha256:${'a'.repeat(64)}` } } },
  demo: { sources: { amd64: { image: 'localhost/guests/demo' } }, user: 'root' },
};
const parsed = parseCatalogue(JSON.stringify({ images }), 'test', 'team').images;
const catalogue: Catalogue = { ...catalogueOf([{ from: 'x', publisher: 'https://team.example', images: parsed }]), cacheBytes: 1 };
const FILES = ['/work/disk.qcow2', '/abs/disk.img', '/me/disk.img', '/work/web'];
const around = {
  ...{ catalogue, architecture: 'amd64', workingFolder: '/work', homeFolder: '/me' },
  isFile: (path: string) => FILES.includes(path),
  isStored: (reference: string) => reference === 'mine',
};

const CASES: [said: string, source: object, stem: string][] = [
  [
    'https://images.example.com/My%20Disk.raw.xz?x=1',
    { is: 'url', at: { url: 'https://images.example.com/My%20Disk.raw.xz?x=1' } },
    'my-disk',
  ],
  ['oci://quay.io/team/disk:1', { is: 'image', reference: 'quay.io/team/disk:1' }, 'disk'],
  ['docker://nginx', { is: 'image', reference: 'nginx' }, 'nginx'],
  ['./disk.qcow2', { is: 'file', path: '/work/disk.qcow2' }, 'disk'],
  ['/abs/disk.img', { is: 'file', path: '/abs/disk.img' }, 'disk'],
  ['~/disk.img', { is: 'file', path: '/me/disk.img' }, 'disk'],
  ['file:///abs/disk.img', { is: 'file', path: '/abs/disk.img' }, 'disk'],
  ['disk.qcow2', { is: 'file', path: '/work/disk.qcow2' }, 'disk'],
  ['web', { is: 'url', at: { url: URL_OF_WEB, digest: `sha256:${'a'.repeat(64)}`, publisher: 'https://team.example' } }, 'web'],
  ['demo', { is: 'image', reference: 'localhost/guests/demo' }, 'demo'],
  ['mine', { is: 'image', reference: 'mine' }, 'mine'],
  ['quay.io/team/disk@sha256:'.concat('b'.repeat(64)), { is: 'image', reference: `quay.io/team/disk@sha256:${'b'.repeat(64)}` }, 'disk'],
];
for (const [said, source, stem] of CASES)
  test(`${said} is understood`, () => {
    const found = resolveImage(said, around);
    assert.deepEqual([found.source, found.stem], [source, stem]);
  });

test('what the catalogue knows of an image it knows by its full name, too', () => {
  assert.equal(resolveImage('localhost/guests/demo:latest', around).entry?.user, 'root');
});

const REFUSED: [said: string, code: string][] = [
  ['http://images.example.com/disk.img', 'USAGE'],
  ['https://me:secret@images.example.com/disk.img', 'USAGE'],
  ['./nothing.img', 'FILE_MISSING'],
  ['wbe', 'IMAGE_UNKNOWN'],
  ['web:3', 'IMAGE_UNKNOWN'],
  ['oci://A B', 'REFERENCE_INVALID'],
  ['', 'IMAGE_UNKNOWN'],
];
for (const [said, code] of REFUSED) test(`"${said}" is refused`, () => assert.throws(() => resolveImage(said, around), { code }));

test('an architecture that is not published is said', () => {
  assert.throws(() => resolveImage('web', { ...around, architecture: 'arm64' }), {
    code: 'ARCHITECTURE_MISSING',
    why: 'the catalogue has amd64',
  });
});

test('a stem can be part of a name, whatever it is made of', () => {
  assert.deepEqual(['debian-12-genericcloud', '2024_Web--', '...', 'x'.repeat(60)].map(stemOf), [
    'debian-12-genericcloud',
    'web',
    'vm',
    'x'.repeat(40),
  ]);
});
