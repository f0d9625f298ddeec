import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { EmbeddedCluster } from './harness.ts';

const GOOD = readFileSync('examples/vm.yaml', 'utf8');
const STOPPED = GOOD.replace(/running: true|runStrategy: \w+/, 'runStrategy: Halted');
const INSTANCE = readFileSync('examples/vmi.yaml', 'utf8');

test('admission on the embedded cluster, also after a restart', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const programs = ['kubectl', 'oldKubectl'] as const;

  for (const round of ['at first', 'after a restart']) {
    for (const program of programs) {
      await t.test(`${round}, ${program}: every mistake is named with its field`, async () => {
        const input = STOPPED.replace('runStrategy: Halted', 'runStrategy: Halted\n  running: true').replace(
          /- name: (\w+)\n(\s+)containerDisk/,
          '- name: $1x\n$2containerDisk',
        );
        const { code, stderr } = await cluster[program](['create', '-f', '-'], { input });
        assert.equal(code, 1);
        assert.match(stderr, /spec\.running: Forbidden: running and runStrategy exclude each other/);
        assert.match(stderr, /disks\[0\]\.name: Invalid value: "\w+": there is no volume of this name; did you mean/);
      });
      await t.test(`${round}, ${program}: applying twice says unchanged`, async () => {
        await cluster.must(program, ['apply', '-f', '-'], { input: STOPPED });
        assert.match(await cluster.must(program, ['apply', '-f', '-'], { input: STOPPED }), /unchanged/);
      });
    }
    if (round === 'at first') {
      await cluster.must('virtctl', ['down']);
      await cluster.must('virtctl', ['up']);
    }
  }

  await t.test('the spec of an instance is fixed, its status is put back', async () => {
    await cluster.must('kubectl', ['create', '-f', '-'], { input: INSTANCE });
    const name = /name: ([\w-]+)/.exec(INSTANCE)?.[1] ?? '';
    const refused = await cluster.kubectl(['patch', 'vmi', name, '--type=merge', '-p', '{"spec":{"hostname":"other"}}']);
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /spec: Forbidden: the spec of an instance is fixed/);
    await cluster.must('kubectl', ['patch', 'vmi', name, '--type=merge', '-p', '{"status":{"phase":"Failed","reason":"me"}}']);
    assert.equal(await cluster.field('vmi', name, '.status.reason'), '');
    await cluster.must('kubectl', ['delete', 'vmi', name]);
  });
});
