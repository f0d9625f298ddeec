import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { ANNOTATION_NODE_POWER } from '../../../../api/kubevirt/names.ts';
import { vmi } from '../../../../testing/builders.ts';
import { testDeps } from '../../../deps.testing.ts';
import { run } from './run.ts';

const node = (power: string) => ({ kind: 'Node', metadata: { name: 'n1', annotations: { [ANNOTATION_NODE_POWER]: power } } });

function atTerminal(answer: string) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  stdin.end(answer);
  const stdout = Object.assign(new PassThrough(), { isTTY: true });
  stdout.resume();
  const answers = {
    'GET /api/v1/nodes/n1': node('running'),
    'GET /apis/kubevirt.io/v1/virtualmachineinstances': { metadata: {}, items: [vmi('Running', { nodeName: 'n1' })] },
    'PATCH /api/v1/nodes/n1': node('killed'),
  };
  return testDeps(answers, { stdin, stdout });
}

test('on a terminal it names what runs there, and kills nothing unless the answer is yes', async () => {
  const { deps, requests, stderr } = atTerminal('no\n');
  await assert.rejects(run(deps, { yes: false }, 'n1'), { code: 'NOT_CONFIRMED' });
  assert.match(stderr(), /default\/db runs there\n/);
  assert.equal(
    requests.some(([request]) => request.startsWith('PATCH')),
    false,
  );
  const agreed = atTerminal('yes\n');
  await run(agreed.deps, { yes: false }, 'n1');
  assert.equal(agreed.requests.at(-1)?.[0], 'PATCH /api/v1/nodes/n1');
});
