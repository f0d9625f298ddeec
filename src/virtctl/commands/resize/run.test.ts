import assert from 'node:assert/strict';
import { test } from 'node:test';
import { vm, vmi } from '../../../testing/builders.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const BASE = '/apis/kubevirt.io/v1/namespaces/default';
const CLAIM = '/api/v1/namespaces/default/persistentvolumeclaims/db-root';
const claim = {
  metadata: { namespace: 'default', name: 'db-root' },
  spec: { resources: { requests: { storage: '10Gi' } } },
  status: { capacity: { storage: '10Gi' } },
};

function machine(...disks: string[]) {
  const made = vm('Halted');
  const volumes = disks.map((name) => ({ name, persistentVolumeClaim: { claimName: `db-${name}` } }));
  const { template } = made.spec;
  return { ...made, spec: { ...made.spec, template: { ...template, spec: { ...template.spec, volumes } } } };
}
const answers = { [`GET ${BASE}/virtualmachines/db`]: machine('root'), [`GET ${CLAIM}`]: claim, [`PATCH ${CLAIM}`]: claim };

/** It takes no time. */
const clock = { now: () => 0, steady: () => 0, sleep: async () => {} };

test('the PVC is asked for more', async () => {
  const { deps, requests, stdout } = testDeps(answers, { clock });
  await run(deps, {}, 'db', '20Gi');
  assert.deepEqual(
    requests.find(([request]) => request.startsWith('PATCH')),
    [`PATCH ${CLAIM}`, { spec: { resources: { requests: { storage: '20Gi' } } } }],
  );
  assert.match(stdout(), /^disk root of db \(PVC db-root\) grows to 20Gi when it starts/);
});

test('the disk of a machine that runs grows at once, unless it was plugged in', async () => {
  const running = { [`GET ${BASE}/virtualmachineinstances/db`]: vmi('Running') };
  const said = async (made: object) => {
    const { deps, stdout } = testDeps({ ...answers, ...running, [`GET ${BASE}/virtualmachines/db`]: made }, { clock });
    await run(deps, {}, 'db', '20Gi');
    return stdout();
  };
  const plain = machine('root');
  const volumes = [{ name: 'root', persistentVolumeClaim: { claimName: 'db-root', hotpluggable: true } }];
  const { template } = plain.spec;
  assert.match(await said(plain), /grows to 20Gi while it runs/);
  assert.match(
    await said({ ...plain, spec: { ...plain.spec, template: { ...template, spec: { ...template.spec, volumes } } } }),
    /grows to 20Gi when it is attached the next time/,
  );
});

test('a folder that the machine shares is no disk of it', async () => {
  const made = machine('root', 'mount0');
  const { template } = made.spec;
  const devices = { ...template.spec.domain.devices, filesystems: [{ name: 'mount0', virtiofs: {} }] };
  const sharing = {
    ...made,
    spec: { ...made.spec, template: { ...template, spec: { ...template.spec, domain: { ...template.spec.domain, devices } } } },
  };
  const { deps, stdout } = testDeps({ ...answers, [`GET ${BASE}/virtualmachines/db`]: sharing }, { clock });
  await run(deps, {}, 'db', '20Gi');
  assert.match(stdout(), /^disk root of db/);
});

const refused = (message: string, storage = '100Ti') => ({
  ...claim,
  spec: { resources: { requests: { storage } } },
  status: { ...claim.status, conditions: [{ type: 'ControllerResizeError', status: 'True', message }] },
});

test('that the storage refuses is said, with the way back; what is said of another size is not', async () => {
  const looks = [claim, claim, refused('a volume of 100Ti is too large')];
  const { deps } = testDeps({ ...answers, [`GET ${CLAIM}`]: () => looks.shift() ?? claim }, { clock });
  await assert.rejects(run(deps, {}, 'db', '100Ti'), {
    code: 'DISK_NOT_GROWN',
    why: 'a volume of 100Ti is too large',
    fix: 'ask for less; virtctl resize db 10Gi takes it back',
  });
  const late = [refused('a volume of 100Ti is too large'), refused('a volume of 100Ti is too large', '20Gi')];
  const given = { ...claim, status: { capacity: { storage: '20Gi' } } };
  const other = testDeps({ ...answers, [`GET ${CLAIM}`]: () => late.shift() ?? given }, { clock });
  await run(other.deps, {}, 'db', '20Gi');
  assert.match(other.stdout(), /grows to 20Gi/);
});

test('what was refused can be taken back to what the PVC has', async () => {
  const looks = [refused('too large')];
  const { deps, stdout } = testDeps({ ...answers, [`GET ${CLAIM}`]: () => looks.shift() ?? claim }, { clock });
  await run(deps, {}, 'db', '10Gi');
  assert.match(stdout(), /^disk root of db \(PVC db-root\) keeps 10Gi/);
});

test('a size that is none or no larger, and a disk that cannot be told are refused with a fix', async () => {
  const isRefused = async (more: object, size: string, disk?: string) => {
    const { deps, requests } = testDeps({ ...answers, ...more });
    await assert.rejects(run(deps, disk === undefined ? {} : { disk }, 'db', size), (error: { code: string; fix?: string }) => {
      assert.ok(error.fix, error.code);
      codes.push(error.code);
      return true;
    });
    assert.ok(!requests.some(([request]) => request.startsWith('PATCH')));
  };
  const codes: string[] = [];
  await isRefused({}, 'much');
  await isRefused({}, '10Gi');
  await isRefused({ [`GET ${BASE}/virtualmachines/db`]: machine('root', 'data') }, '20Gi');
  await isRefused({ [`GET ${BASE}/virtualmachines/db`]: machine() }, '20Gi');
  await isRefused({}, '20Gi', 'other');
  assert.deepEqual(codes, ['USAGE', 'DISK_NOT_LARGER', 'USAGE', 'USAGE', 'USAGE']);
});
