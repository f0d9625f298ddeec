import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { UserError } from '../../base/errors.ts';
import { buildVm } from '../../sdk/manifest/vm.ts';
import { parseAccessCredential } from './parse-access-credential.ts';
import { parseAmount } from './parse-amount.ts';
import { parseVolume } from './parse-volume.ts';
import { firstUserData } from './user-data.ts';

test('a machine has a disk for each volume, in the order they were given', () => {
  const { metadata, spec } = buildVm({
    name: 'db',
    runStrategy: 'Always',
    memory: '512Mi',
    cpus: 2,
    gracePeriodSeconds: 180,
    images: [{ source: 'localhost/guests/tiny' }],
    claims: [{ source: 'data', name: 'disk', bootOrder: 2 }],
    userDataBase64: 'eA==',
  });
  assert.deepEqual(metadata, { name: 'db' });
  assert.deepEqual(spec.template.spec, {
    terminationGracePeriodSeconds: 180,
    domain: {
      cpu: { cores: 2 },
      memory: { guest: '512Mi' },
      devices: {
        disks: [
          { name: 'db-containerdisk-0', disk: { bus: 'virtio' } },
          { name: 'disk', disk: { bus: 'virtio' }, bootOrder: 2 },
          { name: 'cloudinitdisk', disk: { bus: 'virtio' } },
        ],
      },
    },
    volumes: [
      { name: 'db-containerdisk-0', containerDisk: { image: 'localhost/guests/tiny' } },
      { name: 'disk', persistentVolumeClaim: { claimName: 'data' } },
      { name: 'cloudinitdisk', cloudInitNoCloud: { userDataBase64: 'eA==' } },
    ],
  });
});

const VOLUMES: [string, ReturnType<typeof parseVolume>][] = [
  ['registry:5000/a/b:c', { source: 'registry:5000/a/b:c' }],
  ['src:registry:5000/a/b:c', { source: 'registry:5000/a/b:c' }],
  ['src:a,name:root,bootorder:1', { source: 'a', name: 'root', bootOrder: 1 }],
];
for (const [text, expected] of VOLUMES) {
  test(`${text} is read as ${JSON.stringify(expected)}`, () => assert.deepEqual(parseVolume(text), expected));
}

const WRONG: [string, RegExp][] = [
  ['name:root', /src:VALUE is missing/],
  ['src:a,size:5', /"size:5" is none of/],
  ['src:a,bootorder:0', /bootorder:0 is not a number from 1/],
];
for (const [text, why] of WRONG) {
  test(`${text} is refused`, () =>
    assert.throws(
      () => parseVolume(text),
      (error: UserError) => error.exitCode === 2 && why.test(error.why ?? ''),
    ));
}

test('memory is an amount', () => {
  assert.equal(parseAmount('--memory', '512Mi'), '512Mi');
  for (const wrong of ['much', '0', '-1Gi', '']) assert.throws(() => parseAmount('--memory', wrong), /is not an amount/);
  assert.throws(() => parseAmount('--memory', '512'), { message: '--memory 512 is 512 bytes', fix: '--memory 512Mi' });
  assert.throws(() => parseAmount('--disk', '20'), { message: '--disk 20 is 20 bytes', fix: '--disk 20Gi' });
  assert.throws(() => parseAmount('--memory', '4k'), { message: '--memory 4k is 4000 bytes', fix: /512Mi/ });
  assert.throws(() => parseAmount('--disk', '900Ti', 64 * 2 ** 40), { message: '--disk 900Ti is too large', fix: 'at most 64Ti' });
});

test('the first user is a cloud-config document, whatever is in a password', () => {
  const document = firstUserData({ user: 'me', password: 'a: "b" # c', sshKeys: ['ssh-ed25519 AAAA me@host'] }) ?? '';
  assert.match(document, /^#cloud-config\n/);
  assert.deepEqual(parse(document), {
    user: 'me',
    password: 'a: "b" # c',
    chpasswd: { expire: false },
    ssh_authorized_keys: ['ssh-ed25519 AAAA me@host'],
  });
  assert.equal(firstUserData({ sshKeys: [] }), undefined);
  assert.deepEqual(parse(firstUserData({ sshKeys: [], letsAgentManageSsh: true }) ?? ''), {
    runcmd: [['setsebool', '-P', 'virt_qemu_ga_manage_ssh', 'on']],
  });
});

const source = { secret: { secretName: 's' } };
const CREDENTIALS: [text: string, user: string | undefined, expected: object][] = [
  ['src:s', 'me', { sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: ['me'] } } } }],
  ['type:ssh,src:s,method:ga,user:you', 'me', { sshPublicKey: { source, propagationMethod: { qemuGuestAgent: { users: ['you'] } } } }],
  ['src:s,method:nocloud', undefined, { sshPublicKey: { source, propagationMethod: { noCloud: {} } } }],
  ['type:password,src:s', 'me', { userPassword: { source, propagationMethod: { qemuGuestAgent: {} } } }],
];
for (const [text, user, expected] of CREDENTIALS) {
  test(`the credential ${text} of ${user ?? 'nobody'} is understood`, () => assert.deepEqual(parseAccessCredential(text, user), expected));
}

const WRONG_CREDENTIALS: [string, RegExp][] = [
  ['type:ssh', /src:SECRET is missing/],
  ['src:s', /needs user:NAME/],
  ['src:s,method:configdrive', /virtctl writes no config drives/],
  ['src:s,method:post', /neither ga nor nocloud/],
  ['src:s,type:face', /neither ssh nor password/],
  ['src:s,method:nocloud,user:me', /goes with method:ga/],
  ['type:password,src:s,method:nocloud', /guest agent alone/],
  ['type:password,src:s,user:me', /keys of the Secret/],
  ['secret', /is none of/],
];
for (const [text, why] of WRONG_CREDENTIALS) {
  test(`the credential ${text} is refused`, () =>
    assert.throws(
      () => parseAccessCredential(text),
      (error: UserError) => error.exitCode === 2 && why.test(error.why ?? ''),
    ));
}
