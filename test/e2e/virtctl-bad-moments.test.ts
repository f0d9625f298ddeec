/** What goes wrong around a command line: one clear line, the documented exit code, and the terminal as it was. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { issueLeaf } from '../../src/base/node/pki-issue.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import type { BadMoments, ClusterBadMoments, LocalBadMoments } from '../../src/virtctl/bad-moments.testing.ts';
import { COMMANDS } from '../../src/virtctl/generated/commands.ts';
import { EmbeddedCluster, type Result, run } from './harness.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const BIN = join(PROJECT, 'bin');
const SOURCES = join(PROJECT, 'src/virtctl/commands');
const VIRTCTL = join(BIN, 'virtctl');
const DAY_MS = 24 * 3_600_000;

type Command<Moments = BadMoments> = { readonly words: readonly string[]; readonly moments: Moments };

/** Every command, with what is in its folder. */
const ALL: readonly Command[] = await Promise.all(
  COMMANDS.filter(({ words }) => existsSync(join(SOURCES, ...words, 'run.ts'))).map(async ({ words }) => {
    const { badMoments } = (await import(join(SOURCES, ...words, 'bad-moments.testing.ts'))) as { badMoments: BadMoments };
    return { words, moments: badMoments };
  }),
);
const REMOTE = ALL.filter((command): command is Command<ClusterBadMoments> => command.moments.needs === 'cluster');
const LOCAL = ALL.filter((command): command is Command<LocalBadMoments> => command.moments.needs === 'nothing');

test('bad moments', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const kubeconfig = join(cluster.home, 'kubeconfig');
  const env = { ...process.env, VIRT_HOME: cluster.home, KUBECONFIG: kubeconfig, NO_COLOR: '1' };
  await cluster.must('virtctl', ['run', 'tiny', '--name', 'web', '--memory', '128Mi', '--detach']);
  await cluster.until('vm/web', '.status.printableStatus', 'Running');

  /** The exit code and the first line, which is all that most people read. */
  const short = ({ code, stderr }: Result) => `${code} ${stderr.split('\n')[0]}`;
  const isPlain = ({ stderr }: Result) => assert.doesNotMatch(stderr, /\n\s+at |node:internal/, stderr);

  await t.test('a name that is not there', async () => {
    await forAll(REMOTE, async ({ words, moments: { args, missing } }) => {
      if (!missing) return;
      const result = await cluster.virtctl([...words, ...args]);
      assert.match(short(result), missing, `${words.join(' ')}\n${result.stderr}`);
      isPlain(result);
    });
  });

  await t.test('a state in which it cannot be done: 4', async () => {
    assert.match(
      short(await cluster.virtctl(['start', 'web'])),
      /^4 error\[Conflict\]: Cannot start VM default\/web: VM is already running/,
    );
    assert.match(short(await cluster.virtctl(['unpause', 'web'])), /^4 error\[Conflict\]: .*not paused/);
  });

  await t.test('a command line that is not understood: 2', async () => {
    for (const args of [['strat', 'web'], ['start'], ['stop', 'web', '--force'], ['restart', 'web', '--grace-period', '0']])
      assert.equal((await cluster.virtctl(args)).code, 2, args.join(' '));
    await forAll(ALL, async ({ words }) => {
      const result = await cluster.virtctl([...words, '--no-such-flag']);
      assert.match(short(result), /^2 .*(--no-such-flag|Expected)/, words.join(' '));
      isPlain(result);
    });
  });

  await t.test('no server: 8', async () => {
    const dead = kubeconfigFor('dead', 'https://127.0.0.1:9');
    await forAll(REMOTE, async ({ words, moments: { args } }) => {
      const command = words.join(' ');
      const result = await cluster.virtctl([...words, '--kubeconfig', dead, ...args]);
      assert.match(result.stderr, /error\[ServiceUnavailable\]: Cannot reach the Kubernetes API at https:\/\/127\.0\.0\.1:9/, command);
      assert.equal(result.code, 8, command);
      isPlain(result);
    });
  });

  await t.test('no cluster at all: 8, and the commands of this machine do without', async () => {
    const folder = join(cluster.home, 'nowhere');
    const nowhere = { KUBECONFIG: '', VIRT_HOME: folder, HOME: folder };
    await forAll(REMOTE, async ({ words, moments: { args } }) => {
      const command = words.join(' ');
      const result = await cluster.virtctl([...words, ...args], { env: nowhere });
      assert.match(result.stderr, /^error\[NO_CLUSTER\]: there is no cluster to talk to/, command);
      assert.equal(result.code, 8, command);
    });
    assert.equal((await cluster.virtctl(['version', '--client'], { env: nowhere })).code, 0);
    await forAll(LOCAL, async ({ words, moments: { args, expected } }) => {
      const result = await cluster.virtctl([...words, ...args], { env: nowhere });
      assert.match(`${result.code} ${result.stderr || result.stdout}`, expected, words.join(' '));
      isPlain(result);
    });
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
    await forAll(REMOTE, async ({ words, moments: { args } }) => {
      const command = words.join(' ');
      const result = await cluster.virtctl([...words, '--kubeconfig', path, ...args]);
      assert.match(short(result), /^6 error\[CERTIFICATE_EXPIRED\]: the client certificate in \S+late-kubeconfig has expired/, command);
      isPlain(result);
    });
    const { stderr } = await cluster.kubectl(['get', 'vms', '--kubeconfig', path]);
    assert.match(stderr, /Unauthorized/);
  });

  await t.test('a server that says nothing: Ctrl+C ends the wait', async () => {
    const wakes = new Map<number, () => void>();
    await forAll(REMOTE, async ({ words, moments: { args } }) => {
      const command = words.join(' ');
      const sockets: Socket[] = [];
      const server = createServer((socket) => {
        socket.on('error', () => {});
        sockets.push(socket);
        wakes.get(port)?.();
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const { port } = server.address() as AddressInfo; // it listens
      const path = kubeconfigFor(`mute-${port}`, `https://127.0.0.1:${port}`);
      // A terminal sends the signal to everybody in the foreground.
      const child = spawn(VIRTCTL, [...words, '--kubeconfig', path, ...args], {
        env,
        detached: true,
        timeout: 60_000,
        killSignal: 'SIGKILL',
      });
      wakes.set(port, () => {
        if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGINT');
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
      const [code, signal] = await new Promise<[number | null, string | null]>((done) => child.once('close', (...how) => done(how)));
      for (const socket of sockets) socket.destroy();
      server.close();
      const isInterrupted = code === 130 || signal === 'SIGINT';
      assert.ok(isInterrupted, `${command}: ${code} ${signal}\n${said}`);
      assert.doesNotMatch(said, /\n\s+at |node:internal/, command);
    });
  });

  await t.test('help for a reader that has gone', async () => {
    await forAll(ALL, async ({ words }) => {
      const command = words.join(' ');
      // A shell whose input is a socket reads ~/.bashrc, and what that says is not ours.
      const line = `${VIRTCTL} ${command} --help | true; echo "\${PIPESTATUS[0]}"`;
      const { stdout, stderr } = await run('bash', ['--norc', '-c', line], { env: env as Record<string, string> });
      assert.deepEqual([stdout, stderr], ['0\n', ''], command);
    });
  });

  await t.test('a reader that leaves early is no failure', async () => {
    for (const command of ['logs --system', 'ls -o json', 'logs web']) {
      const { stdout, stderr } = await run(
        'bash',
        ['--norc', '-c', `${VIRTCTL} ${command} | head -n 1 > /dev/null; echo "\${PIPESTATUS[0]}"`],
        {
          env: env as Record<string, string>,
        },
      );
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

  /** The kubeconfig of the cluster, but for where its server is. */
  function kubeconfigFor(name: string, server: string): string {
    const path = join(cluster.home, `${name}-kubeconfig`);
    writeFileSync(path, readFileSync(kubeconfig, 'utf8').replace(/https:\/\/127\.0\.0\.1:\d+/, server));
    return path;
  }

  function file(name: string): string {
    return readFileSync(join(cluster.home, name), 'utf8');
  }
});

/** Two at a time, which is what a small machine has room for. */
async function forAll<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await each(item);
  };
  await Promise.all([work(), work()]);
}
