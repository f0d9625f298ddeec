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

test('the PVC is asked for more', async () => {
  const { deps, requests, stdout } = testDeps(answers);
  await run(deps, {}, 'db', '20Gi');
  assert.deepEqual(requests.at(-1), [`PATCH ${CLAIM}`, { spec: { resources: { requests: { storage: '20Gi' } } } }]);
  assert.match(stdout(), /^disk root of db \(PVC db-root\) grows to 20Gi when it starts/);
});

test('the disk of a machine that runs grows at once, unless it was plugged in', async () => {
  const running = { [`GET ${BASE}/virtualmachineinstances/db`]: vmi('Running') };
  const said = async (made: object) => {
    const { deps, stdout } = testDeps({ ...answers, ...running, [`GET ${BASE}/virtualmachines/db`]: made });
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

test('a size that is none or no larger, and a disk that cannot be told are refused with a fix', async () => {
  const refused = async (more: object, size: string, disk?: string) => {
    const { deps, requests } = testDeps({ ...answers, ...more });
    await assert.rejects(run(deps, disk === undefined ? {} : { disk }, 'db', size), (error: { code: string; fix?: string }) => {
      assert.ok(error.fix, error.code);
      codes.push(error.code);
      return true;
    });
    assert.ok(!requests.some(([request]) => request.startsWith('PATCH')));
  };
  const codes: string[] = [];
  await refused({}, 'much');
  await refused({}, '10Gi');
  await refused({ [`GET ${BASE}/virtualmachines/db`]: machine('root', 'data') }, '20Gi');
  await refused({ [`GET ${BASE}/virtualmachines/db`]: machine() }, '20Gi');
  await refused({}, '20Gi', 'other');
  assert.deepEqual(codes, ['USAGE', 'DISK_NOT_LARGER', 'USAGE', 'USAGE', 'USAGE']);
});
