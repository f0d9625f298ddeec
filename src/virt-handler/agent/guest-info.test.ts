import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import type { ExecQuestion } from '../../api/handler/questions.ts';
import { systemClock } from '../../base/clock.ts';
import { silentLogger } from '../../base/log.ts';
import { waitUntil } from '../../qemu/qmp/qemu.testing.ts';
import { AgentSession } from './agent-session.ts';
import { execInGuest } from './exec-in-guest.ts';
import { type Say, startFakeAgent, wellBehaved } from './fake-agent.testing.ts';
import { guestInfoOf, userListOf } from './guest-info.ts';

type Script = (command: string, args: Record<string, unknown>) => Say;

/** What virt-api gets to hear when this is asked of an agent that answers by this script, or else well. */
async function answered<Answer>(
  t: TestContext,
  ask: (agent: AgentSession) => Promise<Answer>,
  script: Script = () => undefined,
): Promise<Answer> {
  const agent = await startFakeAgent(t, (command, args) => script(command, args as Record<string, unknown>) ?? wellBehaved(command));
  const session = new AgentSession({ folder: agent.folder, clock: systemClock, log: silentLogger, onChange: () => {} });
  t.after(() => session.close());
  session.portIs(true);
  await waitUntil(() => session.facts.state === 'connected', 'the agent is connected');
  return ask(session);
}

const exec = (question: ExecQuestion) => (agent: AgentSession) => execInGuest(agent, question, systemClock);
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('what virt-api asks of an agent', () => {
  test('guestosinfo has everything that the agent can tell', async (t) => {
    const info = await answered(t, guestInfoOf, (command) => {
      if (command === 'guest-get-host-name') return { return: { 'host-name': 'db' } };
      return command === 'guest-get-users' ? { return: [{ user: 'root', 'login-time': 1.5 }] } : undefined;
    });
    const { supportedCommands, ...rest } = info;
    assert.equal(supportedCommands?.length, 6);
    assert.deepEqual(JSON.parse(JSON.stringify(rest)), {
      guestAgentVersion: '7.2.22',
      hostname: 'db',
      os: { id: 'debian', name: 'Debian GNU/Linux', kernelRelease: '6.1.0', prettyName: 'Debian 12' },
      userList: [{ userName: 'root', loginTime: 1.5 }],
      fsInfo: { disks: [] },
      fsFreezeStatus: 'thawed',
    });
  });

  test('an agent that refuses is quoted, without what a terminal would act on', async (t) => {
    const asked = answered(t, userListOf, (command) => (command === 'guest-get-users' ? { error: 'disabled\u001b[31m' } : undefined));
    await assert.rejects(asked, { message: 'the guest agent refused guest-get-users: disabled?[31m' });
  });

  test('exec runs a program to its end', async (t) => {
    const asked: object[] = [];
    let looks = 0;
    const question = { command: ['sh', '-c', 'id'], input: base64('in') };
    const result = await answered(t, exec(question), (command, args) => {
      if (command === 'guest-exec') asked.push(args);
      if (command === 'guest-exec') return { return: { pid: 7 } };
      if (command !== 'guest-exec-status') return undefined;
      return {
        return: ++looks < 3 ? { exited: false } : { exited: true, exitcode: 3, 'out-data': base64('out'), 'err-data': base64('err') },
      };
    });
    assert.deepEqual(asked, [{ path: 'sh', arg: ['-c', 'id'], 'input-data': base64('in'), 'capture-output': true }]);
    assert.deepEqual(result, { exitCode: 3, stdout: base64('out'), stderr: base64('err'), isTruncated: false });
  });

  test('the output of a program is cut at a mebibyte', async (t) => {
    const output = base64('x'.repeat(1024 * 1024 + 1));
    const result = await answered(t, exec({ command: ['yes'] }), (command) => {
      if (command === 'guest-exec') return { return: { pid: 7 } };
      return command === 'guest-exec-status' ? { return: { exited: true, exitcode: 0, 'out-data': output } } : undefined;
    });
    const { stdout, isTruncated } = result;
    assert.deepEqual([Buffer.from(stdout, 'base64').length, isTruncated], [1024 * 1024, true]);
  });

  test('a program that does not end is left to the guest', async (t) => {
    const asked = answered(t, exec({ command: ['sleep', '1d'], timeoutSeconds: 0.05 }), (command) => {
      if (command === 'guest-exec') return { return: { pid: 7 } };
      return command === 'guest-exec-status' ? { return: { exited: false } } : undefined;
    });
    await assert.rejects(asked, { reason: 'Timeout' });
  });
});
