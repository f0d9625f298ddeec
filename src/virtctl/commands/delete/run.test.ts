import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { vm } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VM = '/apis/kubevirt.io/v1/namespaces/default/virtualmachines/db';
const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/db-root';
const machine = (metadata = {}) => {
  const made = vm('Halted', { printableStatus: 'Stopped' });
  const { template } = made.spec;
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'db-root' } }];
  return {
    ...made,
    metadata: { ...made.metadata, ...metadata },
    spec: { ...made.spec, template: { ...template, spec: { ...template.spec, volumes } } },
  };
};
const claim = (owner: string) => ({
  metadata: { name: 'db-root', namespace: 'default', ownerReferences: [{ uid: owner }] },
  spec: { resources: { requests: { storage: '10Gi' } } },
});
const answers = { [`GET ${VM}`]: machine(), [`GET ${CLAIM}`]: claim('vm-1'), [`DELETE ${VM}`]: {} };

function atTerminal(answer: string, more = {}) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(answer);
  return testDeps({ ...answers, ...more }, { stdin, stdout: Object.assign(new PassThrough(), { isTTY: true }) });
}
const deleted = (requests: readonly (readonly [string, unknown])[]) => requests.filter(([request]) => request.startsWith('DELETE')).length;

test('a program is not asked, and the machine that was looked at is the one that goes', async () => {
  const { deps, stdout, requests } = testDeps(answers);
  await run(deps, { yes: false }, 'vm', 'db');
  assert.equal(stdout(), 'VM db was deleted\n');
  assert.match(JSON.stringify(requests.at(-1)), /"preconditions":\{"uid":"vm-1"\}/);
});

test('at a terminal it says what goes with it, and only yes deletes', async () => {
  for (const [answer, count] of [
    ['\n', 0],
    ['yes\n', 1],
  ] as const) {
    const { deps, stderr, requests } = atTerminal(answer);
    const done = run(deps, { yes: false }, 'db');
    await (count === 0 ? assert.rejects(done, /nothing was deleted/) : done);
    assert.match(stderr(), /db \(Stopped\) will be deleted for good\n {4}disk db-root \(10Gi\) goes with it\n/);
    assert.equal(deleted(requests), count);
  }
});

test('a disk of somebody else stays, and that is said', async () => {
  const { deps, stderr } = atTerminal('yes\n', { [`GET ${CLAIM}`]: claim('another') });
  await run(deps, { yes: false }, 'db');
  assert.match(stderr(), /disk db-root \(10Gi\) stays/);
});

test('a folder of this machine that the guest shares stays, and that is said in place of a size', async () => {
  const { metadata, spec } = claim('vm-1');
  const folder = { metadata: { ...metadata, annotations: { 'kubevirt.io/shared-folder': '/home/me/src' } }, spec };
  const { deps, stderr } = atTerminal('yes\n', { [`GET ${CLAIM}`]: folder });
  await run(deps, { yes: false }, 'db');
  assert.match(stderr(), /for good\n {4}folder \/home\/me\/src stays\nDelete it\? Type yes to continue: $/);
});

test('one wrong name deletes nothing', async () => {
  const { deps, requests } = testDeps(answers);
  await assert.rejects(run(deps, { yes: true }, 'db', 'nobody'), { reason: 'NotFound' });
  assert.equal(deleted(requests), 0);
});

test('an instance and the old kinds are no VM: nothing is asked or deleted, and kubectl deletes them', async () => {
  for (const [words, fix] of [
    [['vmi', 'db'], 'kubectl delete vmi db'],
    [['vm/db', 'vmi/db'], 'kubectl delete vmi db'],
    [['ovm', 'db', 'web'], 'kubectl delete ovm db; kubectl delete ovm web'],
    [['virtualmachineinstanceconfig/db'], 'kubectl delete vmic db'],
  ] as const) {
    const { deps, requests } = testDeps(answers);
    await assert.rejects(run(deps, { yes: true }, ...words), { code: 'USAGE', exitCode: 2, fix });
    assert.deepEqual(requests, []);
  }
});

test('a machine that something keeps is not deleted under it', async () => {
  const kept = machine({ ownerReferences: [{ apiVersion: 'v1', kind: 'OfflineVirtualMachine', name: 'db', uid: 'o', controller: true }] });
  const { deps } = testDeps({ ...answers, [`GET ${VM}`]: kept });
  await assert.rejects(run(deps, { yes: true }, 'db'), { code: 'VM_KEPT', fix: 'kubectl delete offlinevirtualmachine db' });
});
