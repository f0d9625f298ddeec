/** The task pages (docs/tasks): what they tell people to type works, in the order in which they stand, on one cluster with one machine. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { taskCommands } from '../integration/task-pages.ts';
import { demoDisk } from './demo-disk.ts';
import { EmbeddedCluster, run } from './harness.ts';

/** The port of the pages, for which another one is taken here. */
const CHOSEN_PORT = /\b8080\b/g;

test('what the task pages tell people to type works', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  await cluster.must('virtctl', ['run', 'tiny', '--name', 'my-vm', '--detach']);
  await using console = cluster.console('my-vm');
  await console.expect(/guest ready/);
  await cluster.untilCondition('vmi/my-vm', 'AgentConnected');
  const programs = join(cluster.home, 'programs');
  mkdirSync(programs);
  symlinkSync(cluster.kubectls.current, join(programs, 'kubectl'));
  const env = { ...cluster.environment(), PATH: `${resolve('bin')}:${programs}:${process.env['PATH']}`, NO_COLOR: '1' };
  const port = String(await freePort());
  // The folder of whoever types, which the guest may write to as well.
  const cwd = mkdtempSync(join(tmpdir(), 'task-pages-'));
  t.after(() => rmSync(cwd, { recursive: true }));
  chmodSync(cwd, 0o777);
  copyFileSync(await demoDisk(cluster), join(cwd, 'my-image.qcow2'));
  for (const { page, line } of taskCommands().filter(({ isRun }) => isRun)) {
    await t.test(`${page}: ${line}`, async (t) => {
      if (line.includes('127.0.0.1') && !cluster.hasNetwork()) return t.skip('no namespace here: Services have no addresses');
      const typed = line.replaceAll(CHOSEN_PORT, port);
      const { code, stdout, stderr } = await run('sh', ['-euc', typed], { cwd, env });
      assert.equal(code, 0, `${typed}\n${stdout}${stderr}`);
    });
  }
  const said = await cluster.must('virtctl', ['why', 'my-vm']);
  assert.match(said, /my-vm/, 'and the machine is there at the end');
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}
