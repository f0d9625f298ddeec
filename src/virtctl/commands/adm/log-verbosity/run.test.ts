import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Answers, testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const AT = '/apis/kubevirt.io/v1/namespaces/kubevirt/kubevirts/kubevirt';
const cluster = (logVerbosity?: object): Answers => ({
  'GET /apis/kubevirt.io/v1/kubevirts': {
    metadata: {},
    items: [
      {
        apiVersion: 'kubevirt.io/v1',
        kind: 'KubeVirt',
        metadata: { name: 'kubevirt', namespace: 'kubevirt' },
        spec: { configuration: { developerConfiguration: { logVerbosity } } },
      },
    ],
  },
  [`PATCH ${AT}`]: {},
});
const patched = async (flags: Omit<Parameters<typeof run>[1], 'reset'> & { reset?: boolean }, before?: object) => {
  const { deps, requests } = testDeps(cluster(before));
  await run(deps, { reset: false, ...flags });
  const [, body] = requests.find(([request]) => request === `PATCH ${AT}`) ?? [];
  const { spec } = (typeof body === 'string' ? JSON.parse(body) : body) as {
    spec: { configuration: { developerConfiguration: { logVerbosity: object } } };
  };
  return spec.configuration.developerConfiguration.logVerbosity;
};

test('without a change everybody is shown, the default where nothing is set', async () => {
  const { deps, stdout } = testDeps(cluster({ virtHandler: 5 }));
  await run(deps, { reset: false });
  assert.equal(stdout(), 'virt-api = 2\nvirt-controller = 2\nvirt-handler = 5\nvirt-launcher = 2\nvirt-operator = 2\n');
});

test('one is set, or all with one that is different', async () => {
  assert.deepEqual(await patched({ virtApi: 6 }), { virtAPI: 6 });
  assert.deepEqual(await patched({ all: 3, virtHandler: 7 }), {
    virtAPI: 3,
    virtController: 3,
    virtHandler: 7,
    virtLauncher: 3,
    virtOperator: 3,
  });
});

test('a reset takes away what was set, nodes too, before something new is', async () => {
  assert.deepEqual(await patched({ reset: true, virtApi: 4 }, { virtHandler: 5, nodeVerbosity: { n1: 9 } }), {
    virtHandler: null,
    nodeVerbosity: null,
    virtAPI: 4,
  });
});

test('what is no level is refused before anything is asked', async () => {
  const { deps, requests } = testDeps(cluster());
  await assert.rejects(run(deps, { reset: false, virtApi: 10 }), { code: 'USAGE', exitCode: 2 });
  assert.deepEqual(requests, []);
});

test('a cluster without an installation says so', async () => {
  const { deps } = testDeps({ 'GET /apis/kubevirt.io/v1/kubevirts': { metadata: {}, items: [] } });
  await assert.rejects(run(deps, { reset: false }), { code: 'NOT_INSTALLED' });
});
