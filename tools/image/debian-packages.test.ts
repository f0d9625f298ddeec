import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { describePackages, packagesOf } from './debian-packages.ts';

test('the packages of an image are those whose files are in it, by the names that links lead to', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-debs-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const root = join(folder, 'root');
  const debs = ['libused', 'unused'].map((name) => {
    const tree = join(folder, name);
    mkdirSync(join(tree, 'DEBIAN'), { recursive: true });
    mkdirSync(join(tree, 'usr/lib'), { recursive: true });
    writeFileSync(join(tree, 'DEBIAN/control'), `Package: ${name}\nVersion: 1:2.0-3\nArchitecture: all\nMaintainer: m\nDescription: d\n`);
    writeFileSync(join(tree, `usr/lib/${name}.so.1.2`), name);
    symlinkSync(`${name}.so.1.2`, join(tree, `usr/lib/${name}.so.1`));
    execFileSync('dpkg-deb', ['--root-owner-group', '--build', tree, join(folder, `${name}.deb`)], { stdio: 'ignore' });
    execFileSync('dpkg-deb', ['-x', join(folder, `${name}.deb`), root]);
    return join(folder, `${name}.deb`);
  });
  const packages = describePackages(debs);
  assert.deepEqual(packages[1], {
    name: 'unused',
    version: '1:2.0-3',
    architecture: 'all',
    files: ['usr/lib/unused.so.1', 'usr/lib/unused.so.1.2'],
  });
  const files = [
    { name: 'lib/libused.so.1', path: join(root, 'usr/lib/libused.so.1') },
    { name: 'bin/node', path: process.execPath },
    { name: 'etc/passwd', content: '' },
  ];
  assert.deepEqual(packagesOf(files, { root, packages }), [{ name: 'libused', version: '1:2.0-3', architecture: 'all' }]);
});
