import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findContainerDisk } from './container-disk.ts';
import { makePod, type PodFolders, putFile } from './pod.testing.ts';

let pod: PodFolders;
beforeEach(() => {
  pod = makePod();
});
afterEach(() => pod.remove());

function find(path?: string) {
  return findContainerDisk({ root: pod.image, path, linkPath: join(pod.privateFolder, 'base0') });
}

test('the one file in /disk is the disk, and gets a hard link beside the overlay', () => {
  putFile(pod, 'disk/fedora.img', 'content');
  const path = join(pod.image, 'disk/fedora.img');
  assert.deepEqual(find(), { format: 'raw', sizeBytes: 7, name: 'disk/fedora.img', path, isLinked: true });
  assert.equal(statSync(join(pod.privateFolder, 'base0')).ino, statSync(join(pod.image, 'disk/fedora.img')).ino);
});

test('a path chooses among several files', () => {
  for (const name of ['a', 'b']) putFile(pod, `disk/${name}`, name.repeat(5));
  assert.throws(() => find(), { code: 'IMAGE_FILE_AMBIGUOUS' });
  assert.equal(find('/disk/b').name, '/disk/b');
});

test('an image without /disk is refused', () => {
  assert.throws(() => findContainerDisk({ root: join(pod.image, 'disk'), path: undefined, linkPath: '/nowhere' }), {
    code: 'IMAGE_FILE_MISSING',
  });
});

test('an empty /disk is refused', () => assert.throws(() => find(), { code: 'IMAGE_FILE_AMBIGUOUS' }));

for (const target of ['/etc/passwd', '../../../../../../../etc/passwd', '/proc/self/root/etc/passwd', 'nowhere', 'disk.img']) {
  test(`a disk that is a link to ${target} is refused`, () => {
    symlinkSync(target, join(pod.image, 'disk/disk.img'));
    assert.throws(() => find(), { code: 'IMAGE_FILE_REFUSED' });
  });
}

test('a chain of links is refused', () => {
  putFile(pod, 'real.img', 'content');
  symlinkSync('../real.img', join(pod.image, 'second'));
  symlinkSync('../second', join(pod.image, 'disk/disk.img'));
  assert.throws(() => find(), { code: 'IMAGE_FILE_REFUSED' });
});

test('a /disk that is a link is refused', () => {
  renameSync(join(pod.image, 'disk'), join(pod.image, 'other'));
  symlinkSync('/etc', join(pod.image, 'disk'));
  assert.throws(() => find(), { code: 'IMAGE_FILE_REFUSED' });
  assert.throws(() => find('disk/passwd'), { code: 'IMAGE_FILE_REFUSED' });
});

for (const path of ['../../outside', 'disk/../../outside', '/', '', 'disk/a\0b', '..']) {
  test(`the path ${JSON.stringify(path)} is refused`, () => assert.throws(() => find(path), { code: 'IMAGE_FILE_REFUSED' }));
}

test('a folder, a FIFO and a missing file are refused at once', () => {
  mkdirSync(join(pod.image, 'disk/folder'));
  execFileSync('mkfifo', [join(pod.image, 'disk/fifo')]);
  assert.throws(() => find('disk/folder'), { code: 'IMAGE_FILE_REFUSED' });
  assert.throws(() => find('disk/fifo'), { code: 'IMAGE_FILE_REFUSED' });
  assert.throws(() => find('disk/none'), { code: 'IMAGE_FILE_MISSING' });
});
