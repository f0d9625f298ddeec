/** What goes wrong around a command line: one clear line, the documented exit code, and the terminal as it was. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { issueLeaf } from '../../src/base/node/pki-issue.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { EmbeddedCluster, type Result, run } from './harness.ts';

const BIN = join(resolve(import.meta.dirname, '../..'), 'bin');
const VIRTCTL = join(BIN, 'virtctl');
const DAY_MS = 24 * 3_600_000;

test('bad moments', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const kubeconfig = join(cluster.home, 'kubeconfig');
  const env = { ...process.env, VIRT_HOME: cluster.home, KUBECONFIG: kubeconfig, NO_COLOR: '1' };
  await cluster.must('virtctl', ['run', 'tiny', '--name', 'web', '--memory', '128Mi', '--detach']);
  await cluster.until('vm/web', '.status.printableStatus', 'Running');

  /** The exit code and the first line, which is all that most people read. */
  const short = ({ code, stderr }: Result) => `${code} ${stderr.split('\n')[0]}`;
  const isPlain = ({ stderr }: Result) => assert.doesNotMatch(stderr, /\n\s+at |node:internal/, stderr);

  await t.test('a name that is not there: 3', async () => {
    for (const args of [['start'], ['stop'], ['restart'], ['pause'], ['unpause'], ['reset'], ['soft-reboot'], ['console'], ['vnc']]) {
      const result = await cluster.virtctl([...args, 'nobody']);
      assert.match(short(result), /^3 error\[NotFound\]: .*nobody/, args.join(' '));
      isPlain(result);
    }
    for (const args of [['logs'], ['why'], ['guestosinfo'], ['fslist'], ['userlist'], ['logs', '--previous'], ['exec']]) {
      const result = await cluster.virtctl([...args, 'nobody', ...(args[0] === 'exec' ? ['true'] : [])]);
      assert.match(short(result), /^3 error\[NotFound\]: .*nobody/, args.join(' '));
    }
    assert.match(short(await cluster.virtctl(['expose', 'vm', 'nobody', '--name', 'x', '--port', '80'])), /^3 error\[NotFound\]/);
    assert.match(short(await cluster.virtctl(['port-forward', '--stdio', 'vm/nobody', '22'])), /^3 error\[NotFound\]/);
  });

  await t.test('a state in which it cannot be done: 4', async () => {
    assert.match(
      short(await cluster.virtctl(['start', 'web'])),
      /^4 error\[Conflict\]: Cannot start VM default\/web: VM is already running/,
    );
    assert.match(short(await cluster.virtctl(['unpause', 'web'])), /^4 error\[Conflict\]: .*not paused/);
  });

  await t.test('a command line that is not understood: 2', async () => {
    for (const args of [
      ['strat', 'web'],
      ['start'],
      ['start', 'web', '--pausd'],
      ['stop', 'web', '--force'],
      ['restart', 'web', '--grace-period', '0'],
    ])
      assert.equal((await cluster.virtctl(args)).code, 2, args.join(' '));
  });

  await t.test('no server: 8', async () => {
    const dead = join(cluster.home, 'dead-kubeconfig');
    writeFileSync(dead, readFileSync(kubeconfig, 'utf8').replace(/https:\/\/127\.0\.0\.1:\d+/, 'https://127.0.0.1:9'));
    for (const args of [['ls'], ['start', 'web'], ['console', 'web'], ['version'], ['port-forward', '--stdio', 'vm/web', '22']]) {
      const result = await cluster.virtctl([...args, '--kubeconfig', dead]);
      assert.match(
        short(result),
        /^8 error\[ServiceUnavailable\]: Cannot reach the Kubernetes API at https:\/\/127\.0\.0\.1:9/,
        args.join(' '),
      );
      isPlain(result);
    }
    const nowhere = { KUBECONFIG: '', VIRT_HOME: '/nonexistent', HOME: '/nonexistent' };
    assert.match(short(await cluster.virtctl(['ls'], { env: nowhere })), /^8 error\[NO_CLUSTER\]: there is no cluster to talk to/);
    assert.equal((await cluster.virtctl(['version', '--client'], { env: nowhere })).code, 0);
  });

  await t.test('a certificate that has expired: 6, and it is said', async () => {
    const authority = { cert: file('pki/ca.crt'), key: file('pki/ca.key') };
    const validity = { notBeforeMs: Date.now() - 10 * DAY_MS, notAfterMs: Date.now() - DAY_MS };
    const leaf = await issueLeaf(
      authority,
      { subject: { commonName: 'late', organizations: ['system:masters'] }, use: 'client' },
      validity,
    );
    const path = join(cluster.home, 'late-kubeconfig');
    const server = /https:\/\/127\.0\.0\.1:\d+/.exec(readFileSync(kubeconfig, 'utf8'))?.[0] ?? '';
    await writeKubeconfig(path, { server, ca: authority.cert, ...leaf, name: 'late' });
    const result = await cluster.virtctl(['ls', '--kubeconfig', path]);
    assert.match(short(result), /^6 error\[CERTIFICATE_EXPIRED\]: the client certificate in \S+late-kubeconfig has expired/);
    isPlain(result);
    const { stderr } = await cluster.kubectl(['get', 'vms', '--kubeconfig', path]);
    assert.match(stderr, /Unauthorized/);
  });

  await t.test('a reader that leaves early is no failure', async () => {
    for (const command of ['logs --system', 'ls -o json', 'logs web']) {
      const { stdout, stderr } = await run('bash', ['-c', `${VIRTCTL} ${command} | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`], {
        env: env as Record<string, string>,
      });
      assert.deepEqual([stdout, stderr], ['0\n', ''], command);
    }
  });

  await t.test('Ctrl+C ends whatever waits, at once and without a word too many', async () => {
    const waiting: [args: string[], ready: RegExp][] = [
      [['port-forward', 'vm/web', '0:80'], /forwarding tcp/],
      [['vnc', 'web', '--proxy-only'], /"port"/],
      [['logs', 'web', '-f'], /./],
      [['console', 'web'], /Connected/],
    ];
    for (const [args, ready] of waiting) {
      const child = spawn(VIRTCTL, args, { env });
      let said = '';
      const add = (chunk: Buffer) => {
        said += chunk;
        if (ready.test(said)) child.kill('SIGINT');
      };
      child.stdout.on('data', add);
      child.stderr.on('data', add);
      const [code, signal] = await once(child, 'exit');
      assert.equal(code ?? (signal === 'SIGINT' ? 130 : signal), 130, args.join(' '));
      assert.doesNotMatch(said, /\n\s+at |node:internal/, args.join(' '));
    }
  });

  await t.test('the terminal is as it was, however the console is left', async () => {
    const leave: [how: string, command: string, keys: string][] = [
      ['Ctrl+]', `${VIRTCTL} console web`, '\x1d'],
      ['SIGTERM', `timeout --foreground -s TERM 12 ${VIRTCTL} console web`, ''],
      ['SIGINT', `timeout --foreground -s INT 12 ${VIRTCTL} console web`, ''],
    ];
    for (const [how, command, keys] of leave) {
      const child = spawn('/usr/bin/script', ['-qec', `${command}; echo; stty -a`, '/dev/null'], { env: { ...env, SHELL: '/bin/sh' } });
      let said = '';
      child.stdout.on('data', (chunk: Buffer) => {
        const isNew = !said.includes('Connected');
        said += chunk;
        if (isNew && said.includes('Connected')) child.stdin.write(keys);
      });
      await once(child, 'close');
      assert.match(said, /Connected to the console/, how);
      assert.match(said.slice(said.lastIndexOf('speed ')), /(?<!-)icanon[\s\S]*(?<!-)echo /, how);
    }
  });

  await t.test('what a machine printed is there after it has stopped', async () => {
    await cluster.must('virtctl', ['stop', 'web', '--force', '--grace-period', '0']);
    await cluster.untilGone('vmi/web');
    assert.match(await cluster.must('virtctl', ['logs', 'web', '--previous']), /\S+ login: /);
    assert.equal((await cluster.must('virtctl', ['logs', 'web', '--previous', '--tail', '1'])).split('\n').length, 2);
    assert.match(short(await cluster.virtctl(['logs', 'web'])), /^4 error\[VM_NOT_RUNNING\]/);
    assert.match(short(await cluster.virtctl(['vnc', 'screenshot', 'web', '-f', '-'])), /^3 error\[NotFound\]/);
  });

  await t.test('kubectl virt is virtctl', async () => {
    const path = `${BIN}:${process.env['PATH']}`;
    const asPlugin = (args: string[]) =>
      run(cluster.kubectls.current, ['virt', ...args], { env: { ...(env as Record<string, string>), PATH: path } });
    assert.match((await asPlugin(['ls'])).stdout, /^NAME +STATUS/);
    assert.match((await asPlugin(['start', '--help'])).stdout, /kubectl virt start my-vm/);
    assert.match(short(await asPlugin(['start', 'nobody'])), /error\[NotFound\]/);
  });

  function file(name: string): string {
    return readFileSync(join(cluster.home, name), 'utf8');
  }
});
