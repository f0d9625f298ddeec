import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { appendFileSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { npmSkipReason } from './sbom.ts';
import { signSums } from './signature.ts';
import { verifyRelease } from './verify-release.ts';
import { writeRelease } from './write-release.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

describe('a release', { skip: npmSkipReason() ?? false }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-release-'));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const keys = generateKeyPairSync('ed25519');
  const privateKey = keys.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const publicKey = keys.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  before(async () => {
    if (npmSkipReason()) return;
    for (const into of [first, second]) await writeRelease({ into, builder: 'urn:test' });
  });
  after(() => rmSync(folder, { recursive: true }));

  test('two builds have the same SHA256SUMS', () => {
    assert.equal(readFileSync(join(first, 'SHA256SUMS'), 'utf8'), readFileSync(join(second, 'SHA256SUMS'), 'utf8'));
  });

  test('its sums name every executable, the bill of materials and the provenance, and sha256sum finds them good', () => {
    const names = [
      'provenance.json',
      'sbom.cdx.json',
      'virt-api.mjs',
      'virt-controller.mjs',
      'virt-handler.mjs',
      'virt-importer.mjs',
      'virt-launcher.mjs',
    ];
    const said = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: first, encoding: 'utf8' });
    assert.deepEqual(
      said.trim().split('\n'),
      [...names, 'virt-operator.mjs', 'virt-ui.mjs', 'vmctl.mjs'].map((name) => `${name}: OK`),
    );
  });

  test('its provenance names the commit and the digest of every other file', () => {
    const { subject, predicate } = JSON.parse(readFileSync(join(first, 'provenance.json'), 'utf8'));
    assert.match(
      predicate.buildDefinition.resolvedDependencies[0].digest.gitCommit,
      existsSync(join(PROJECT, '.git')) ? /^[0-9a-f]{40}$/ : /unknown/,
    );
    const told = subject.map(({ name, digest }: { name: string; digest: { sha256: string } }) => `${digest.sha256}  ${name}`);
    const sums = readFileSync(join(first, 'SHA256SUMS'), 'utf8').trim().split('\n');
    assert.deepEqual(
      told,
      sums.filter((line) => !line.endsWith('provenance.json')),
    );
  });

  test('nothing of it says in which folder it was built', () => {
    for (const name of ['virt-api.mjs', 'virt-operator.mjs', 'sbom.cdx.json', 'provenance.json'])
      assert.ok(!readFileSync(join(first, name), 'utf8').includes(PROJECT), name);
  });

  test('one that was signed is verified; one with another byte, without a file, or with other sums is not', async () => {
    const signed = (name: string) => {
      const copy = join(folder, name);
      cpSync(first, copy, { recursive: true });
      writeFileSync(join(copy, 'SHA256SUMS.sig'), signSums(readFileSync(join(copy, 'SHA256SUMS')), privateKey));
      return copy;
    };
    assert.equal((await verifyRelease(signed('good'), publicKey)).length, 10);
    const refused = async (what: (copy: string) => void, message: string) => {
      const copy = signed(`bad-${message}`);
      what(copy);
      await assert.rejects(verifyRelease(copy, publicKey), { code: 'RELEASE_NOT_VERIFIED', message });
    };
    await refused((copy) => appendFileSync(join(copy, 'virt-api.mjs'), '\n'), 'virt-api.mjs was changed');
    await refused((copy) => rmSync(join(copy, 'vmctl.mjs')), 'vmctl.mjs is missing');
    await refused((copy) => appendFileSync(join(copy, 'SHA256SUMS'), `${'0'.repeat(64)}  more\n`), 'the signature is not good');
    await refused((copy) => rmSync(join(copy, 'SHA256SUMS.sig')), 'SHA256SUMS.sig is missing');
  });
});
