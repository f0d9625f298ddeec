/** The program in docs/typescript.md does what the page says, on the real API server. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { startAndFollow } from '../../examples/typescript/machines.ts';
import { VMS } from '../../src/api/kubevirt/kinds/virtual-machine.ts';
import { type VirtualMachineInstance, VMIS } from '../../src/api/kubevirt/kinds/virtual-machine-instance.ts';
import { applyManifests } from '../../src/cmd/embedded/apply-manifests.ts';
import { startTestServer } from '../../src/control-plane/apiserver/test-server.testing.ts';

const ROOT = join(import.meta.dirname, '../..');
const at = { namespace: 'default', name: 'hello' };
const spec = { domain: { devices: {} } };

test('the program starts the machine and prints the phases of its instance until it runs', async () => {
  const { client, close } = await startTestServer();
  try {
    await applyManifests(client, join(ROOT, 'deploy/crds'), (object) => object);
    const template = { spec };
    await client.create(VMS, { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachine', metadata: at, spec: { running: false, template } });
    const lines: string[] = [];
    const print = (line: string) => {
      lines.push(line);
      void play(line); // the controllers' part: the next phase comes when the last one was seen
    };
    const play = async (line: string) => {
      const instance: VirtualMachineInstance = { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', metadata: at, spec };
      if (line === 'hello: Stopped') await client.create(VMIS, instance);
      if (line === 'hello: Pending') await client.patch(VMIS, at, { status: { phase: 'Running', nodeName: 'node1' } });
    };
    await startAndFollow({ client, ...at, print, signal: AbortSignal.timeout(20_000) });
    assert.deepEqual(lines, ['hello: Stopped', 'hello: Pending', 'hello: Running', 'running now: hello on node1']);
    assert.equal((await client.get(VMS, at))?.spec.runStrategy, 'Always');
  } finally {
    close();
  }
});

test('the page shows the programs as they are', () => {
  const page = readFileSync(join(ROOT, 'docs/typescript.md'), 'utf8');
  for (const name of ['machines.ts', 'visit.ts'])
    assert.ok(page.includes(`\`\`\`ts\n${readFileSync(join(ROOT, 'examples/typescript', name), 'utf8')}\`\`\``), name);
});
