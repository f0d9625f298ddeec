import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const FLAGS = {
  name: 'db',
  runStrategy: 'Manual',
  terminationGracePeriod: 5,
  memory: '1Gi',
  cloudInit: 'noCloud',
  gaManageSsh: false,
} as const;

function written(flags: object) {
  const { deps, stdout } = testDeps();
  run(deps, { ...FLAGS, ...flags });
  return parse(stdout());
}

test('a manifest, and nothing is created', () => {
  const vm = written({ namespace: 'test', volumeContainerdisk: ['src:quay.io/team/disk:1,name:root'], volumePvc: ['data'] });
  assert.deepEqual([vm.kind, vm.metadata, vm.spec.runStrategy], ['VirtualMachine', { name: 'db', namespace: 'test' }, 'Manual']);
  assert.deepEqual(
    vm.spec.template.spec.volumes.map(
      ({ containerDisk, persistentVolumeClaim }: Record<string, { image?: string; claimName?: string }>) =>
        containerDisk?.image ?? persistentVolumeClaim?.claimName,
    ),
    ['quay.io/team/disk:1', 'data'],
  );
});

test('the first user becomes user data of cloud-init', () => {
  const { volumes } = written({ user: 'me', sshKey: ['ssh-ed25519 AAAA'] }).spec.template.spec;
  const userData = Buffer.from(volumes[0].cloudInitNoCloud.userDataBase64, 'base64').toString();
  assert.match(userData, /^#cloud-config\n[\s\S]*me[\s\S]*ssh-ed25519 AAAA/);
});

test('what contradicts itself is refused', () => {
  const { deps } = testDeps();
  assert.throws(() => run(deps, { ...FLAGS, user: 'me', cloudInitUserData: 'eA==' }), { code: 'USAGE', exitCode: 2 });
  assert.throws(() => run(deps, { ...FLAGS, cloudInit: 'none', accessCred: ['type:ssh,src:keys,method:nocloud'] }), { code: 'USAGE' });
});
