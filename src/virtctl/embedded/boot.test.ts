import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { VirtualMachineInstance } from '../../api/kubevirt/kinds/virtual-machine-instance.ts';
import { vm, vmi } from '../../testing/builders.ts';
import { testDeps } from '../deps.testing.ts';
import type { ConsoleTarget } from '../deps.ts';
import { watchBoot } from './boot.ts';

const VMI_LIST = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances';
const WATCH = `${VMI_LIST}?fieldSelector=metadata.name%3Ddb&watch=true&allowWatchBookmarks=true`;

/** A machine whose instance is seen like this, and whose console says that; then nothing more is heard of either. */
function world({ seen, printed }: { seen: VirtualMachineInstance; printed: string }) {
  const event = Buffer.from(`${JSON.stringify({ type: 'ADDED', object: seen })}\n`);
  const { deps } = testDeps({
    'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachines/db': vm('Always'),
    [WATCH]: () => new Response(new ReadableStream({ start: (controller) => controller.enqueue(event) })),
  });
  const openConsole = async ({ signal }: ConsoleTarget) => ({ output: output(printed, signal), write() {}, takeOver() {}, close() {} });
  return { client: deps.client, openConsole, vm: vm('Always'), onLine() {} };
}

/** Until somebody has waited long enough, as a connection that is closed then. */
async function* output(text: string, signal: AbortSignal | undefined) {
  if (text !== '') yield Buffer.from(text);
  await new Promise((resolve) => signal?.addEventListener('abort', resolve, { once: true }));
}

test('a machine at its login prompt is a machine that is up', async () => {
  const said = await watchBoot(world({ seen: vmi('Running'), printed: 'hello\nlogin: ' }));
  assert.equal(said, 'db is running and waits at its login prompt');
});

for (const [what, seen, printed, warning] of [
  ['does not run yet', vmi('Scheduling'), '', /^db keeps starting, it is Scheduling: virtctl why db says what it waits for$/],
  [
    'boots',
    vmi('Running'),
    'x\n[ OK ] Reached \x1b[1mbasic',
    /^db runs, and is not at its login prompt yet: its console says "\[ OK \] Reached .*basic"; virt/,
  ],
  ['says nothing', vmi('Running'), '', /login prompt yet: its console is silent; virtctl console db shows it$/],
] as const)
  test(`a machine that ${what} when nobody wants to wait any longer is no failure, and what is missing is said`, async () => {
    const said = await watchBoot({ ...world({ seen, printed }), patienceMs: 50 });
    assert.match(typeof said === 'string' ? `no warning: ${said}` : said.warning, warning);
  });
