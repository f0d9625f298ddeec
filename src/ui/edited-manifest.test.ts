import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deriveCommand, deriveNewVm, type NewVm } from './derive-new-vm.ts';
import { manifestOf, readManifest, withChoices } from './edited-manifest.ts';

const CHOICES = {
  namespace: 'default',
  name: 'web',
  image: 'localhost/guests/tiny',
  cpus: 1,
  memory: '256Mi',
  isStarted: true,
  isEphemeral: true,
  disk: '',
};
const TEXT = manifestOf(deriveNewVm(CHOICES));
const KEPT = manifestOf(deriveNewVm({ ...CHOICES, isEphemeral: false, disk: '10Gi' }));
const choicesOf = (text: string): NewVm => {
  const read = readManifest(text);
  return 'choices' in read ? read.choices : assert.fail(read.why);
};

test('what the form says goes into the manifest and comes back from it', () => {
  const changed: NewVm = {
    namespace: 'team',
    name: 'db',
    image: 'other',
    cpus: 4,
    memory: '2Gi',
    isEphemeral: false,
    disk: '20Gi',
    user: '',
    sshKey: '',
    userData: '#cloud-config\nx: 1\n',
    isStarted: false,
  };
  for (const text of [TEXT, KEPT]) assert.deepEqual(choicesOf(withChoices(text, changed)), changed);
  assert.match(withChoices(TEXT, { name: 'db' }), /kubevirt.io\/vm: db/);
});

test('what somebody typed into the manifest is in the form, and unknown fields, order and comments survive a change of the form', () => {
  const typed = `# mine\n${TEXT.replace('cores: 1', 'cores: 3 # enough\n          futureField: 7')}`;
  assert.equal(choicesOf(typed).cpus, 3);
  const after = withChoices(typed, { memory: '1Gi' });
  assert.match(after, /^# mine\n.*cores: 3 # enough\n +futureField: 7\n.*guest: 1Gi/s);
});

test('user data that is taken away takes its disk with it', () => {
  assert.equal(withChoices(withChoices(TEXT, { userData: 'x' }), { userData: '' }), TEXT);
});

test('a manifest without an image gets a disk for one', () => {
  const bare =
    'apiVersion: kubevirt.io/v1\nkind: VirtualMachine\nmetadata:\n  name: a\nspec:\n  template:\n    spec:\n      domain:\n        devices: {}\n';
  assert.equal(choicesOf(withChoices(bare, { image: 'i', cpus: 2 })).image, 'i');
});

test('what cannot be read says why, and stays as it is', () => {
  for (const bad of ['a: [', '- 1', 'spec: {template: {spec: {volumes: [null], domain: {}}}}', `a: ${'x'.repeat(300_000)}`]) {
    assert.ok('why' in readManifest(bad), bad.slice(0, 40));
    assert.equal(withChoices(bad, { name: 'b' }), bad);
  }
});

test('the command says all of the manifest, or takes it from a file', () => {
  const command = (text: string) => {
    const read = readManifest(text);
    return 'vm' in read ? deriveCommand(read) : '';
  };
  const run = 'virtctl run localhost/guests/tiny --name web --memory 256Mi --cpus 1';
  assert.equal(command(TEXT), `${run} --ephemeral --detach`);
  assert.equal(command(KEPT), `${run} --disk 10Gi --detach`);
  assert.equal(
    command(withChoices(KEPT, { userData: 'x', namespace: 'team' })),
    `${run} --disk 10Gi --cloud-init user-data --detach -n team`,
  );
  assert.equal(command(withChoices(KEPT, { sshKey: 'ssh-ed25519 AAAA me' })), `${run} --disk 10Gi --user virt --ssh-key key.pub --detach`);
  assert.match(command(withChoices(TEXT, { isStarted: false })), /^virtctl create vm --name web .* --run-strategy Halted \| kubectl/);
  assert.equal(command(withChoices(KEPT, { isStarted: false })), 'kubectl create -n default -f web.yaml');
  assert.equal(command(`${TEXT}extra: 1\n`), 'kubectl create -n default -f web.yaml');
});

test('a machine of its own disk and an ephemeral one become each other, and back', () => {
  const ephemeral = withChoices(KEPT, { isEphemeral: true });
  assert.equal(ephemeral, TEXT);
  assert.equal(withChoices(ephemeral, { isEphemeral: false }), KEPT);
});

test('the disk follows the name of its machine and the image', () => {
  const read = readManifest(withChoices(KEPT, { name: 'db', image: 'other', namespace: 'team' }));
  const { vm, claim } = 'vm' in read ? read : assert.fail(read.why);
  assert.deepEqual(
    [claim?.metadata?.name, claim?.metadata?.namespace, claim?.metadata?.annotations],
    ['db-root', 'team', { 'kubevirt.io/disk-image': 'other' }],
  );
  assert.deepEqual(vm.spec?.template.spec.volumes, [{ name: 'root', persistentVolumeClaim: { claimName: 'db-root' } }]);
});

test('a key is told to cloud-init and its user to virtctl, and both are gone with it; what somebody wrote himself stays', () => {
  const keyed = withChoices(KEPT, { sshKey: 'ssh-ed25519 AAAA me', user: 'ada' });
  const { user, sshKey, userData } = choicesOf(keyed);
  assert.deepEqual([user, sshKey], ['ada', 'ssh-ed25519 AAAA me']);
  assert.match(userData, /name: "ada"\n.*ssh_authorized_keys:\n {2}- "ssh-ed25519 AAAA me"/s);
  assert.equal(keyed.match(/kubevirt.io\/login-user: ada/g)?.length, 2);
  assert.equal(withChoices(keyed, { sshKey: '' }), KEPT);
  const own = withChoices(KEPT, { userData: '#cloud-config\nx: 1\n' });
  assert.equal(withChoices(own, { sshKey: 'ssh-ed25519 AAAA me' }), own);
});

test('a manifest of other things than one machine and its disk is not taken', () => {
  for (const bad of [`${KEPT}---\n${KEPT}`, `${TEXT}---\nkind: Secret\n`, KEPT.slice(KEPT.indexOf('---'))])
    assert.ok('why' in readManifest(bad), bad);
});
