import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { type TestContext, test } from 'node:test';
import { MOVED_CODE } from '../../../api/handler/moved.ts';
import { vmi } from '../../../testing/builders.ts';
import { until } from '../../../testing/until.ts';
import { testDeps } from '../../deps.testing.ts';
import { run } from './run.ts';

const VMI = 'GET /apis/kubevirt.io/v1/namespaces/default/virtualmachineinstances/db';
const SCREEN = '/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/db/vnc';
const FLAGS = { proxyOnly: false, address: '127.0.0.1', port: 0, preserveSession: false, viewOnly: false, moveCursor: false };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'vnc-'));
  t.after(() => rmSync(path, { recursive: true }));
  return path;
}

test('--proxy-only prints the port and carries whoever connects to the screen', async () => {
  const stop = new AbortController();
  const paths: string[] = [];
  const openStream = async (path: string) => {
    paths.push(path);
    const screen = new PassThrough();
    screen.write('RFB 003.008\n');
    return screen;
  };
  const { deps, stdout } = testDeps({ [VMI]: vmi('Running') }, { openStream, signal: stop.signal });
  const done = run(deps, { ...FLAGS, proxyOnly: true, viewOnly: true }, 'db');
  await until(() => stdout().endsWith('\n'), 'the port');
  const socket = connect(JSON.parse(stdout()).port, '127.0.0.1');
  assert.equal(String((await once(socket, 'data'))[0]), 'RFB 003.008\n');
  socket.destroy();
  stop.abort();
  await done.catch(() => {});
  assert.deepEqual(paths, [`${SCREEN}?shared=true&write=false`]);
});

test('a viewer is started with the port, and its end is ours', async (t) => {
  const dir = folder(t);
  const viewer = join(dir, 'viewer');
  writeFileSync(viewer, `#!/bin/sh\necho "$1" > ${dir}/said\n`);
  chmodSync(viewer, 0o755);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const { deps } = testDeps({ [VMI]: vmi('Running') }, { signal: stop.signal });
  await assert.rejects(run(deps, { ...FLAGS, vncPath: viewer, vncType: 'vncviewer' }, 'db'), { message: 'exit 0' });
  assert.match(readFileSync(join(dir, 'said'), 'utf8'), /^127\.0\.0\.1::\d+\n$/);
});

test('a viewer whose machine has moved is started again', async (t) => {
  const dir = folder(t);
  const viewer = join(dir, 'viewer');
  writeFileSync(
    viewer,
    `#!/bin/bash\necho shown >> ${dir}/said\nexec 3<>/dev/tcp/127.0.0.1/\${1##*:}\nread -u 3 line\ncat <&3 >/dev/null\n`,
  );
  chmodSync(viewer, 0o755);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const codes = [MOVED_CODE, 1000];
  const openStream = async (_: string, onClosed?: (code: number, reason: string) => void) => {
    const screen = new PassThrough();
    screen.write('RFB 003.008\n');
    screen.once('close', () => onClosed?.(codes.shift() ?? 0, ''));
    screen.end();
    return screen;
  };
  const { deps } = testDeps({ [VMI]: vmi('Running') }, { openStream, signal: stop.signal });
  await assert.rejects(run(deps, { ...FLAGS, vncPath: viewer, vncType: 'vncviewer' }, 'db'), { message: 'exit 0' });
  assert.equal(readFileSync(join(dir, 'said'), 'utf8'), 'shown\nshown\n');
});

test('without a viewer, and without a machine, nothing is served', async () => {
  const { deps } = testDeps({ [VMI]: vmi('Running') }, { env: { PATH: '/nowhere' } });
  await assert.rejects(run(deps, FLAGS, 'db'), { code: 'VIEWER_MISSING', exitCode: 7 });
  await assert.rejects(run(testDeps().deps, FLAGS, 'db'), { reason: 'NotFound' });
});

test('a screenshot goes to the file, or to the standard output', async (t) => {
  const file = join(folder(t), 'db.png');
  const answers = { [`GET ${SCREEN}/screenshot?moveCursor=false`]: new Response('PNG') };
  await run(testDeps(answers).deps, { ...FLAGS, file }, 'screenshot', 'db');
  assert.equal(readFileSync(file, 'utf8'), 'PNG');
  const { deps, stdout } = testDeps(answers);
  await run(deps, { ...FLAGS, file: '-' }, 'screenshot', 'db');
  assert.equal(stdout(), 'PNG');
  await assert.rejects(run(deps, FLAGS, 'screenshot', 'db'), { code: 'USAGE', exitCode: 2 });
});
