/** What goes wrong around a command line: one clear line, the documented exit code, and the terminal as it was. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { type Application, type CommandContext, generateHelpTextForAllCommands } from '@stricli/core';
import { issueLeaf } from '../../src/base/node/pki-issue.ts';
import { writeKubeconfig } from '../../src/client/node/kubeconfig.ts';
import { buildVirtctl } from '../../src/virtctl/app.ts';
import { EmbeddedCluster, type Result, run } from './harness.ts';

const BIN = join(resolve(import.meta.dirname, '../..'), 'bin');
const VIRTCTL = join(BIN, 'virtctl');
const DAY_MS = 24 * 3_600_000;

type Remote = {
  /** With the name of a machine, or of something else that it needs, that is not there. */
  readonly args: readonly string[];
  /** What it says then; nothing for a command that needs no name. */
  readonly missing?: RegExp;
  /** Another program ends it, with a code of its own. */
  readonly isOthers?: boolean;
};

const NOT_FOUND = /^3 error\[NotFound\]: .*no(body|where)/;
const named = (...args: string[]): Remote => ({ args: [...args, 'nobody'], missing: NOT_FOUND });
const KEY = ['--user', 'root', '--value', 'ssh-ed25519 AAAA'];

/** Every command that talks to a cluster. */
const REMOTE: Readonly<Record<string, Remote>> = {
  run: { args: ['run', 'tiny', '-n', 'nowhere', '--detach'], missing: NOT_FOUND },
  ls: { args: ['ls'] },
  top: named('top'),
  start: named('start'),
  stop: named('stop'),
  restart: named('restart'),
  pause: named('pause'),
  unpause: named('unpause'),
  reset: named('reset'),
  'soft-reboot': named('soft-reboot'),
  console: named('console'),
  vnc: named('vnc', 'screenshot', '-f', '-'),
  ssh: { args: ['ssh', 'root@vm/nobody', '-c', 'true'], isOthers: true, missing: /^255 error\[NotFound\]: .*nobody/ },
  scp: { args: ['scp', '/etc/hostname', 'root@vm/nobody:/tmp'], isOthers: true, missing: /^255 error\[NotFound\]: .*nobody/ },
  exec: { args: ['exec', 'nobody', '--', 'true'], missing: NOT_FOUND },
  guestosinfo: named('guestosinfo'),
  userlist: named('userlist'),
  fslist: named('fslist'),
  'credentials add-ssh-key': named('credentials', 'add-ssh-key', ...KEY),
  'credentials remove-ssh-key': named('credentials', 'remove-ssh-key', ...KEY),
  'credentials set-password': named('credentials', 'set-password', '-u', 'root', '-p', 'x'),
  'port-forward': { args: ['port-forward', '--stdio', 'vm/nobody', '22'], missing: NOT_FOUND },
  expose: { args: ['expose', 'vm', 'nobody', '--name', 'x', '--port', '80'], missing: NOT_FOUND },
  logs: named('logs'),
  why: named('why'),
  expand: named('expand', '--vm'),
  install: { args: ['install'] },
  uninstall: { args: ['uninstall'] },
  version: { args: ['version'] },
};

/** Every other command: what it says on a machine where there is nothing. */
const LOCAL: Readonly<Record<string, readonly [args: readonly string[], expected: RegExp]>> = {
  up: [['up', '--port', '99999999'], /^2 error\[USAGE\]/],
  down: [['down'], /^0 nothing to stop/],
  status: [['status'], /^3 error\[NOT_RUNNING\]/],
  kubeconfig: [['kubeconfig'], /^3 error\[NOT_SET_UP\]/],
  'create vm': [['create', 'vm', '--user', 'me', '--password-file', '/nowhere'], /^3 error\[FILE_MISSING\]: cannot read \/nowhere/],
  'image list': [['image', 'list'], /^\d /],
  'image tag': [['image', 'tag', 'nobody', 'other'], /^\d error\[/],
  'image import': [['image', 'import', '/nowhere', 'other'], /^\d error\[/],
  'image push': [['image', 'push', '/nowhere', 'registry.example.com/other'], /^3 error\[SOURCE_MISSING\]/],
  'image remove': [['image', 'remove', 'nobody'], /^\d error\[/],
  doctor: [['doctor'], /^[07] /],
  backup: [['backup', '/nowhere/file'], /^3 error\[NO_CLUSTER\]/],
  restore: [['restore', '/nowhere'], /^3 error\[NO_BACKUP\]/],
  completion: [['completion', 'tcsh'], /^2 .*bash\|zsh\|fish/],
};

test('every command is in one of the tables', async () => {
  const app = (await buildVirtctl()) as unknown as Application<CommandContext>; // no command is run, so none asks for more of its context
  const commands = generateHelpTextForAllCommands(app).map(([route]) => route.split(' ').slice(1).join(' '));
  assert.deepEqual([...Object.keys(REMOTE), ...Object.keys(LOCAL)].sort(), commands.sort());
});

test('bad moments', async (t) => {
  await using cluster = await EmbeddedCluster.start();
  const kubeconfig = join(cluster.home, 'kubeconfig');
  const env = { ...process.env, VIRT_HOME: cluster.home, KUBECONFIG: kubeconfig, NO_COLOR: '1' };
  await cluster.must('virtctl', ['run', 'tiny', '--name', 'web', '--memory', '128Mi', '--detach']);
  await cluster.until('vm/web', '.status.printableStatus', 'Running');

  /** The exit code and the first line, which is all that most people read. */
  const short = ({ code, stderr }: Result) => `${code} ${stderr.split('\n')[0]}`;
  const isPlain = ({ stderr }: Result) => assert.doesNotMatch(stderr, /\n\s+at |node:internal/, stderr);

  const remote = Object.entries(REMOTE);

  await t.test('a name that is not there', async () => {
    await forAll(remote, async ([command, { args, missing }]) => {
      if (!missing) return;
      const result = await cluster.virtctl(args);
      assert.match(short(result), missing, `${command}\n${result.stderr}`);
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
    await forAll([...remote, ...Object.entries(LOCAL)], async ([command]) => {
      const result = await cluster.virtctl([...command.split(' '), '--no-such-flag']);
      assert.match(short(result), /^2 .*(--no-such-flag|Expected)/, command);
      isPlain(result);
    });
  });

  await t.test('no server: 8', async () => {
    const dead = kubeconfigFor('dead', 'https://127.0.0.1:9');
    await forAll(remote, async ([command, { args, isOthers }]) => {
      const result = await cluster.virtctl(withKubeconfig(args, dead));
      assert.match(result.stderr, /error\[ServiceUnavailable\]: Cannot reach the Kubernetes API at https:\/\/127\.0\.0\.1:9/, command);
      assert.equal(result.code, isOthers ? 255 : 8, command);
      isPlain(result);
    });
  });

  await t.test('no cluster at all: 8, and the commands of this machine do without', async () => {
    const nowhere = { KUBECONFIG: '', VIRT_HOME: '/nonexistent', HOME: '/nonexistent' };
    await forAll(remote, async ([command, { args }]) => {
      const result = await cluster.virtctl(args, { env: nowhere });
      assert.match(result.stderr, /^error\[NO_CLUSTER\]: there is no cluster to talk to/, command);
      assert.equal(result.code, 8, command);
    });
    assert.equal((await cluster.virtctl(['version', '--client'], { env: nowhere })).code, 0);
    await forAll(Object.entries(LOCAL), async ([command, [args, expected]]) => {
      const result = await cluster.virtctl(args, { env: nowhere });
      assert.match(`${result.code} ${result.stderr || result.stdout}`, expected, command);
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
    await forAll(remote, async ([command, { args }]) => {
      const result = await cluster.virtctl(withKubeconfig(args, path));
      assert.match(short(result), /^6 error\[CERTIFICATE_EXPIRED\]: the client certificate in \S+late-kubeconfig has expired/, command);
      isPlain(result);
    });
    const { stderr } = await cluster.kubectl(['get', 'vms', '--kubeconfig', path]);
    assert.match(stderr, /Unauthorized/);
  });

  await t.test('a server that says nothing: Ctrl+C ends the wait', async () => {
    const wakes = new Map<number, () => void>();
    await forAll(remote, async ([command, { args, isOthers }]) => {
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
      const child = spawn(VIRTCTL, withKubeconfig(args, path), { env, detached: true, timeout: 60_000, killSignal: 'SIGKILL' });
      wakes.set(port, () => {
        if (child.pid && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGINT');
      });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += chunk));
      const [code, signal] = await new Promise<[number | null, string | null]>((done) => child.once('close', (...how) => done(how)));
      for (const socket of sockets) socket.destroy();
      server.close();
      const isInterrupted = isOthers ? code !== 0 : code === 130 || signal === 'SIGINT';
      assert.ok(isInterrupted, `${command}: ${code} ${signal}\n${said}`);
      assert.doesNotMatch(said, /\n\s+at |node:internal/, command);
    });
  });

  await t.test('help for a reader that has gone', async () => {
    await forAll([...remote, ...Object.entries(LOCAL)], async ([command]) => {
      const line = `${VIRTCTL} ${command} --help | true; echo "\${PIPESTATUS[0]}"`;
      const { stdout, stderr } = await run('bash', ['-c', line], { env: env as Record<string, string> });
      assert.deepEqual([stdout, stderr], ['0\n', ''], command);
    });
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

/** Before the command that is run in a guest, whose flags are its own. */
function withKubeconfig(args: readonly string[], path: string): string[] {
  const [command = '', ...rest] = args;
  const isGroup = command === 'credentials';
  return isGroup ? [command, rest[0] ?? '', '--kubeconfig', path, ...rest.slice(1)] : [command, '--kubeconfig', path, ...rest];
}

/** Two at a time, which is what a small machine has room for. */
async function forAll<T>(items: readonly T[], each: (item: T) => Promise<void>): Promise<void> {
  const left = [...items];
  const work = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await each(item);
  };
  await Promise.all([work(), work()]);
}
