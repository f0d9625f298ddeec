import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { deriveCommand, deriveNewVm, type NewVm } from './derive-new-vm.ts';
import { readManifest, withChoices } from './edited-manifest.ts';

const CHOICES = { namespace: 'default', name: 'web', image: 'localhost/guests/tiny', cpus: 1, memory: '256Mi', isStarted: true };
const TEXT = stringify(deriveNewVm(CHOICES));
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
    userData: '#cloud-config\nx: 1\n',
    isStarted: false,
  };
  assert.deepEqual(choicesOf(withChoices(TEXT, changed)), changed);
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
    return 'vm' in read ? deriveCommand(read.vm) : '';
  };
  assert.match(command(TEXT), /^virtctl create vm --name web /);
  assert.match(command(withChoices(TEXT, { userData: 'x' })), /--cloud-init-user-data/);
  assert.equal(command(`${TEXT}extra: 1\n`), 'kubectl create -n default -f web.yaml');
});
