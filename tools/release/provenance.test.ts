import assert from 'node:assert/strict';
import { test } from 'node:test';
import { provenanceOf } from './provenance.ts';

test('a statement names each file, the commit, the lock file, the command and who built', () => {
  const origin = {
    commit: 'c'.repeat(40),
    isClean: true,
    lockSha256: 'd'.repeat(64),
    command: 'npm run build',
    builder: 'urn:kubevirt-ts:builder:local',
    tools: { node: 'v24.0.0' },
  };
  assert.deepEqual(provenanceOf([{ name: 'virt-api.mjs', sha256: 'a'.repeat(64) }], origin), {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'virt-api.mjs', digest: { sha256: 'a'.repeat(64) } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        buildType: 'urn:kubevirt-ts:release:v1',
        externalParameters: { command: 'npm run build' },
        internalParameters: { treeIsClean: true },
        resolvedDependencies: [
          { name: 'source', digest: { gitCommit: 'c'.repeat(40) } },
          { name: 'package-lock.json', digest: { sha256: 'd'.repeat(64) } },
        ],
      },
      runDetails: { builder: { id: 'urn:kubevirt-ts:builder:local', version: { node: 'v24.0.0' } } },
    },
  });
});
