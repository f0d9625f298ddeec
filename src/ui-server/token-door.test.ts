import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../base/log.ts';
import { FakeClock } from '../testing/fake-clock.ts';
import { servePage } from './serve.ts';
import { SESSION_COOKIE, tokenDoor } from './token-door.ts';
import { createTokenSessions } from './token-sessions.ts';

/** A page whose cluster answers this to the question whose token it is. */
async function pageFor(answer: () => Response) {
  const sessions = createTokenSessions(new FakeClock());
  const cookie = `${SESSION_COOKIE}=${sessions.open({ user: 'ada', token: 't' })}`;
  const nothing = () => assert.fail('nothing is passed on');
  const server = await servePage({
    passOn: { request: nothing, watch: nothing, tunnel: nothing, ask: nothing },
    about: { server: 'https://api', context: 'c', namespace: 'default', version: '1' },
    files: () => new Map(),
    host: '127.0.0.1',
    port: 0,
    door: () => tokenDoor({ sessions, hosts: [], ask: async () => answer() }),
    log: silentLogger,
  });
  return {
    server,
    ask: (headers: Record<string, string> = { cookie }) => fetch(`http://127.0.0.1:${server.port}/session.json`, { headers }),
  };
}

const known = () => Response.json({ status: { userInfo: { username: 'ada' } } });

test('a cluster that is busy or down ends no session: it is asked again', async (t) => {
  let answer = known;
  const { server, ask } = await pageFor(() => answer());
  t.after(() => server.close());
  for (const status of [429, 500, 503]) {
    answer = () => Response.json({}, { status });
    const refused = await ask();
    assert.deepEqual([refused.status, await refused.text()], [502, `the cluster does not say whose token this is: it answers ${status}\n`]);
  }
  answer = known;
  assert.equal(((await (await ask()).json()) as { user: string }).user, 'ada');
});

test('a token that the cluster does not know any more ends its sessions, and who has none is told so, not shown a page', async (t) => {
  let answer = () => Response.json({}, { status: 401 });
  const { server, ask } = await pageFor(() => answer());
  t.after(() => server.close());
  assert.equal((await ask()).status, 401);
  answer = known;
  assert.equal((await ask()).status, 401);
  assert.equal((await ask({})).status, 401);
});
