import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { normaliseSbom, npmSbom, npmSkipReason, withImageContent, withoutDevelopment } from './sbom.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const skip = npmSkipReason() ?? false;
const SAID = { name: 'kubevirt-ts', time: '2026-01-02T03:04:05.000Z' };

test('two runs of npm give the same bytes, with the name and the time that were asked for', { skip }, () => {
  const [first, second] = [npmSbom(PROJECT), npmSbom(PROJECT)].map((each) => normaliseSbom(each, SAID));
  assert.equal(JSON.stringify(first), JSON.stringify(second));
  assert.deepEqual([first?.metadata?.timestamp, first?.metadata?.component?.['name']], [SAID.time, SAID.name]);
});

test('what the programs need is in it, what development needs is not', { skip }, () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(resolve(PROJECT, 'package.json'), 'utf8'));
  const { components, dependencies: edges } = withoutDevelopment(npmSbom(PROJECT));
  const names = new Set(components?.map(({ name }) => name));
  assert.deepEqual(
    Object.keys(dependencies).filter((name) => !names.has(name)),
    [],
  );
  assert.ok(!names.has('esbuild') && !names.has('typescript') && 'esbuild' in devDependencies);
  assert.ok(!JSON.stringify(edges).includes('esbuild'));
});

test('the mirror that packages came from is not told, the rest of them is', () => {
  const homepage = { type: 'website', url: 'https://example.com' };
  const component = { name: 'a', externalReferences: [{ type: 'distribution', url: 'https://mirror.example.com/a.tgz' }, homepage] };
  const { components } = normaliseSbom({ components: [component] }, SAID);
  assert.deepEqual(components, [{ name: 'a', externalReferences: [homepage] }]);
});

test('another content has another serial number', () => {
  const serials = ['1', '2'].map((version) => normaliseSbom({ components: [{ version }] }, SAID).serialNumber);
  assert.notEqual(serials[0], serials[1]);
});

test('Node and Debian packages are named by their purl', () => {
  const packages = [{ name: 'libstdc++6', version: '1:12.2.0-14', architecture: 'amd64' }];
  const { components } = withImageContent({}, { node: '24.1.0', packages });
  assert.deepEqual(
    components?.map(({ purl }) => purl),
    ['pkg:generic/node@24.1.0', 'pkg:deb/debian/libstdc%2B%2B6@1%3A12.2.0-14?arch=amd64'],
  );
});
