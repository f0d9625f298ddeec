/** What comes into the project from elsewhere: npm packages, by the lock file alone, and none of them runs anything while it is installed. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Locked = { readonly integrity?: string; readonly resolved?: string; readonly hasInstallScript?: boolean; readonly dev?: boolean };

const LOCK: { packages: Record<string, Locked> } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
const PACKAGES = Object.entries(LOCK.packages).filter(([path]) => path !== '');

test('every package is locked by a digest, and by no address', () => {
  assert.ok(PACKAGES.length > 50);
  for (const [path, { integrity, resolved }] of PACKAGES) {
    assert.match(integrity ?? '', /^sha512-/, path);
    assert.equal(resolved, undefined, path);
  }
});

test('no package that the programs need has an install script', () => {
  const scripted = PACKAGES.filter(([, { hasInstallScript, dev }]) => hasInstallScript && !dev);
  assert.deepEqual(
    scripted.map(([path]) => path),
    [],
  );
});

test('setting up a clone runs no script of any package, and takes what the lock file says', () => {
  const installs = readFileSync('script/bootstrap', 'utf8')
    .split('\n')
    .filter((line) => /^\s*npm (ci|install|i)\b/.test(line));
  assert.equal(installs.length, 2);
  for (const line of installs) assert.match(line, / --ignore-scripts /);
  assert.ok(installs.some((line) => /npm ci /.test(line)));
});

test('every package that the sources name has an exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    assert.match(String(version), /^\d+\.\d+\.\d+$/, name);
});
