/**
 * Every command of virtctl does what it says, with a real guest: one step for each command, in the order in which a person might use them.
 * A step is here, or in the folder of its command (step.testing.ts). A command without one fails the first test; what a command does in other
 * situations is tested elsewhere.
 */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { parse } from 'yaml';
import { TestRegistry } from '../../src/images/registry.testing.ts';
import { COMMANDS } from '../../src/virtctl/generated/commands.ts';
import type { Step } from '../../src/virtctl/step.testing.ts';
import { EmbeddedCluster, type Result, run } from './harness.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const VIRTCTL = join(PROJECT, 'bin/virtctl');
const SOURCES = join(PROJECT, 'src/virtctl/commands');

class World {
  readonly cluster = new EmbeddedCluster();
  readonly env = { ...process.env, VIRT_HOME: this.cluster.home, KUBECONFIG: join(this.cluster.home, 'kubeconfig'), NO_COLOR: '1' };

  /** Calls virtctl and returns what it printed. */
  say(...args: string[]): Promise<string> {
    return this.cluster.must('virtctl', args);
  }

  file(name: string): string {
    return join(this.cluster.home, name);
  }

  /** Runs a script in the guest. */
  async inGuest(script: string): Promise<string> {
    return (await this.say('exec', 'guest', '--', 'sh', '-c', script)).trim();
  }

  status(wanted: string): Promise<void> {
    return this.cluster.until('vm/guest', '.status.printableStatus', wanted);
  }

  uid(): Promise<string> {
    return this.cluster.field('vmi', 'guest', '.metadata.uid');
  }

  async agentIsThere(): Promise<void> {
    await this.cluster.untilCondition('vmi/guest', 'AgentConnected');
  }

  makeKey(name: string): string {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', this.file(name)], { stdio: 'ignore' });
    return `${this.file(name)}.pub`;
  }

  /** A command that goes on until it is stopped; `use` gets its first words. */
  async while(args: readonly string[], use: (said: string) => Promise<void>): Promise<void> {
    const child = spawn(VIRTCTL, args, { env: this.env });
    const ended = new Promise((done) => child.once('exit', done));
    try {
      const said = await new Promise<string>((done, fail) => {
        child.once('exit', (code) => fail(new Error(`virtctl ${args.join(' ')} left with ${code}`)));
        for (const stream of [child.stdout, child.stderr]) stream.once('data', (chunk) => done(String(chunk)));
      });
      await use(said);
    } finally {
      child.kill();
      await ended;
    }
  }
}

const LOGIN = ['--known-hosts', '/dev/null', '-t', '-o StrictHostKeyChecking=no', '-t', '-o BatchMode=yes'];

/** What needs more of the harness than a step in the folder of a command has, in order. */
const NARRATIVE: Readonly<Record<string, (world: World) => Promise<void>>> = {
  async up(world) {
    await world.say('up');
    process.kill(world.cluster.pid(), 0);
    const pid = world.cluster.pid();
    await world.say('up'); // a second time changes nothing
    assert.equal(world.cluster.pid(), pid);
  },
  async kubeconfig(world) {
    const path = (await world.say('kubeconfig')).trim();
    const { code } = await run(world.cluster.kubectls.current, ['--kubeconfig', path, 'get', '--raw', '/readyz']);
    assert.equal(code, 0);
  },
  async 'image import'(world) {
    writeFileSync(world.file('disk.raw'), Buffer.alloc(2 ** 20, 'disk'));
    assert.match(await world.say('image', 'import', world.file('disk.raw'), 'localhost/test/disk:1'), /^localhost\/test\/disk:1 imported/);
    assert.match(await world.say('image', 'list'), /localhost\/test\/disk:1/);
  },
  async 'image tag'(world) {
    await world.say('image', 'tag', 'localhost/test/disk:1', 'registry.example.com/team/disk:2');
    assert.match(await world.say('image', 'list'), /registry\.example\.com\/team\/disk:2/);
  },
  async 'image pull'(world) {
    await using registry = await TestRegistry.start();
    const name = `${registry.host}/team/pulled:1`;
    await world.say('image', 'push', 'localhost/test/disk:1', name, '--plain-http');
    assert.match(await world.say('image', 'pull', name), / pulled, [0-9a-f]{12}\n$/);
    assert.match(await world.say('image', 'list'), /team\/pulled:1/);
  },
  async 'image push'(world) {
    await using registry = await TestRegistry.start({ access: 'bearer', account: 'me:secret' });
    const auth = Buffer.from('me:secret').toString('base64');
    writeFileSync(world.file('auth.json'), JSON.stringify({ auths: { [registry.host]: { auth } } }));
    mkdirSync(world.file('tmp'));
    const push = (source: string, name: string, home = world.cluster.home) =>
      world.cluster.virtctl(['image', 'push', source, `${registry.host}/${name}`, '--plain-http'], {
        env: { REGISTRY_AUTH_FILE: world.file('auth.json'), VIRT_HOME: home, TMPDIR: world.file('tmp') },
      });
    const { stdout, stderr } = await push('localhost/test/disk:1', 'team/image:1');
    const manifest = registry.manifests.get('team/image:1')?.body ?? '';
    const digest = createHash('sha256').update(manifest).digest('hex');
    assert.equal(stdout, `${registry.host}/team/image:1 pushed, ${digest.slice(0, 12)}\n`, stderr);
    const disk = gunzipSync(registry.blobs.get(JSON.parse(manifest).layers[0].digest) ?? '');
    assert.ok(disk.includes('disk/disk.img') && disk.includes(readFileSync(world.file('disk.raw'))));

    const never = world.file('never'); // where no cluster was ever started
    const fromFile = await push(world.file('disk.raw'), 'team/file', never);
    assert.equal(fromFile.stdout, `${registry.host}/team/file:latest pushed, ${digest.slice(0, 12)}\n`, fromFile.stderr);
    assert.equal(registry.manifests.get('team/file:latest')?.body, manifest); // the same disk is the same image
    assert.deepEqual([readdirSync(world.file('tmp')), existsSync(never)], [[], false]);

    const missing = await push('nobody', 'team/nobody');
    assert.match(`${missing.code} ${missing.stderr}`, /^3 error\[SOURCE_MISSING\]: nobody is neither a file nor an image/);
  },
  async 'image remove'(world) {
    await world.say('image', 'remove', 'localhost/test/disk:1');
    const names = await world.say('image', 'list');
    assert.deepEqual([names.includes('localhost/test/disk:1'), names.includes('team/disk:2')], [false, true]);
  },
  async run(world) {
    assert.equal(await world.say('run', 'agent', '--name', 'guest', '--memory', '192Mi', '--disk', '1Gi', '--detach'), 'guest\n');
    await world.status('Running');
  },
  async console(world) {
    await using console = world.cluster.console('guest');
    await console.login();
    assert.equal(await console.command('echo $((6 * 7))'), '42');
  },
  async vnc(world) {
    await world.say('vnc', 'screenshot', 'guest', '--file', world.file('guest.png'));
    assert.equal(readFileSync(world.file('guest.png')).toString('latin1', 1, 4), 'PNG');
    await world.while(['vnc', 'guest', '--proxy-only'], async (said) => {
      const socket = connect(JSON.parse(said).port, '127.0.0.1');
      const [greeting] = await once(socket, 'data');
      socket.destroy();
      assert.match(String(greeting), /^RFB 003\.\d{3}\n$/);
    });
  },
  async stop(world) {
    assert.equal(await world.say('stop', 'guest'), 'VM guest was scheduled to stop\n');
    await world.status('Stopped');
    assert.deepEqual(world.cluster.guestPids(), []);
    assert.match(await world.say('logs', 'guest', '--previous'), /\nguest ready\n/);
  },
  async 'credentials add-ssh-key'(world) {
    const file = world.makeKey('first');
    const said = await world.say('credentials', 'add-ssh-key', '--create-secret', '--secret', 'keys', '-u', 'root', '-f', file, 'guest');
    assert.equal(said, 'the key was added to the new Secret keys; the machine takes it at its next start\n');
    assert.equal(await world.cluster.field('secret', 'keys', '.metadata.ownerReferences[0].name'), 'guest');
    assert.equal(
      await world.cluster.field('vm', 'guest', '.spec.template.spec.accessCredentials[*].sshPublicKey.source.secret.secretName'),
      'keys',
    );
  },
  async start(world) {
    // what set-password and fslist are about
    await world.cluster.must('kubectl', ['create', 'secret', 'generic', 'passwords', '--from-literal=root=the first one']);
    const password = { userPassword: { source: { secret: { secretName: 'passwords' } }, propagationMethod: { qemuGuestAgent: {} } } };
    const add = (path: string, value: object) => ({ op: 'add', path: `/spec/template/spec/${path}/-`, value });
    const patch = [
      add('accessCredentials', password),
      add('volumes', { name: 'data', emptyDisk: { capacity: '64Mi' } }),
      add('domain/devices/disks', { name: 'data', disk: { bus: 'virtio' } }),
    ];
    await world.cluster.must('kubectl', ['patch', 'vm', 'guest', '--type=json', '-p', JSON.stringify(patch)]);
    assert.equal(await world.say('start', 'guest'), 'VM guest was scheduled to start\n');
    await world.status('Running');
    await world.agentIsThere();
  },
  async exec(world) {
    const { code, stdout } = await world.cluster.virtctl(['exec', '-i', 'guest', '--', 'sh', '-c', 'cat; exit 3'], { input: 'hello\n' });
    assert.deepEqual([code, stdout], [3, 'hello\n']);
  },
  async fslist(world) {
    // The disk that was added last; cloud-init has one, too.
    await world.inGuest('disk=$(ls /dev/vd? | tail -n 1) && mke2fs -F $disk >/dev/null && mkdir -p /data && mount -t ext4 $disk /data');
    const { items } = JSON.parse(await world.say('fslist', 'guest'));
    const found = items.map(({ mountPoint, fileSystemType }: Record<string, string>) => `${mountPoint} ${fileSystemType}`);
    assert.deepEqual(found.sort(), ['/data ext4', '/run/cidata iso9660']);
  },
  async userlist(world) {
    await using console = world.cluster.console('guest');
    console.type('\n');
    await console.expect(/login: $/);
    console.type('root\n');
    await console.expect(/Password: $/);
    console.type('the first one\n');
    await console.expect(/# /);
    const { items } = JSON.parse(await world.say('userlist', 'guest'));
    assert.deepEqual(
      items.map(({ userName }: { userName: string }) => userName),
      ['root'],
    );
    console.type('exit\n');
    await console.expect(/login: $/);
  },
  async ssh(world) {
    const said = await untilOk(() => world.cluster.virtctl(['ssh', 'root@vm/guest', '-i', world.file('first'), ...LOGIN, '-c', 'echo in']));
    assert.deepEqual([said.code, said.stdout], [0, 'in\n'], said.stderr);
  },
  async scp(world) {
    writeFileSync(world.file('there'), 'carried\n');
    await world.say('scp', '-i', world.file('first'), ...LOGIN, world.file('there'), 'root@vm/guest:/tmp/there');
    assert.equal(await world.inGuest('cat /tmp/there'), 'carried');
    await world.say('scp', '-i', world.file('first'), ...LOGIN, 'root@vm/guest:/tmp/there', world.file('back'));
    assert.equal(readFileSync(world.file('back'), 'utf8'), 'carried\n');
  },
  async 'credentials remove-ssh-key'(world) {
    const second = world.makeKey('second');
    const asRoot = ['--user', 'root', 'guest'];
    assert.equal(await world.say('credentials', 'add-ssh-key', '-f', second, ...asRoot), 'the key was added to Secret keys\n');
    const login = (key: string) => world.cluster.virtctl(['ssh', 'root@vm/guest', '-i', world.file(key), ...LOGIN, '-c', 'true']);
    assert.equal((await untilOk(() => login('second'))).code, 0); // at once, without a restart
    const said = await world.say('credentials', 'remove-ssh-key', '--value', readFileSync(`${world.file('first')}.pub`, 'utf8'), ...asRoot);
    assert.equal(said, 'the key was removed from Secret keys\n');
    await untilOk(async () => ({ ...(await login('first')), code: (await login('first')).code === 255 ? 0 : 1 }));
    assert.deepEqual([(await login('first')).code, (await login('second')).code], [255, 0]);
    const again = await world.cluster.virtctl(['credentials', 'remove-ssh-key', '-f', `${world.file('first')}.pub`, ...asRoot]);
    assert.match(`${again.code} ${again.stderr}`, /^3 error\[NotFound\]: the key is in none of the Secrets keys/);
  },
  async 'credentials set-password'(world) {
    const args = ['credentials', 'set-password', '-u', 'root', '-p', 'the second one', 'guest'];
    const refused = await world.cluster.virtctl(args);
    assert.match(`${refused.code} ${refused.stderr}`, /^4 error\[NOT_OWNED\]: the Secret passwords does not belong to guest alone/);
    assert.equal(await world.say(...args, '--force'), 'the password of root was set in Secret passwords\n');
    const hash = () => world.inGuest("grep '^root:' /etc/shadow");
    const before = await hash();
    await untilOk(async () => ({ code: (await hash()) === before ? 1 : 0, stdout: '', stderr: '' }));
    await using console = world.cluster.console('guest');
    console.type('\n');
    await console.expect(/login: $/);
    console.type('root\n');
    await console.expect(/Password: $/);
    console.type('the second one\n');
    await console.expect(/# /);
    console.type('exit\n');
    await console.expect(/login: $/);
  },
  async pause(world) {
    assert.equal(await world.say('pause', 'guest'), 'VMI guest was scheduled to pause\n');
    await world.cluster.until('vmi/guest', '.status.conditions[?(@.type=="Paused")].status', 'True');
  },
  async unpause(world) {
    assert.equal(await world.say('unpause', 'guest'), 'VMI guest was scheduled to unpause\n');
    assert.equal((await untilOk(() => world.cluster.virtctl(['exec', 'guest', '--', 'true']))).code, 0);
    assert.equal(await world.cluster.field('vmi', 'guest', '.status.conditions[?(@.type=="Paused")].status'), '');
  },
  async 'soft-reboot'(world) {
    await bootsAgain(world, () => world.say('soft-reboot', 'guest'));
  },
  async reset(world) {
    await bootsAgain(world, () => world.say('reset', 'guest'));
  },
  async restart(world) {
    const before = await world.uid();
    assert.equal(await world.say('restart', 'guest'), 'VM guest was scheduled to restart\n');
    await untilOk(async () => ({ code: ['', before].includes(await uidOrNone(world)) ? 1 : 0, stdout: '', stderr: '' }));
    await world.cluster.until('vm/guest', '.status.ready', 'true');
    assert.notEqual(await world.uid(), before);
    await world.agentIsThere();
  },
  async ui(world) {
    const child = spawn(VIRTCTL, ['ui', '--no-open'], { env: world.env, stdio: ['ignore', 'pipe', 'ignore'] });
    const [link] = (await once(child.stdout, 'data')) as [Buffer];
    const entered = await fetch(String(link).trim(), { redirect: 'manual' });
    const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? '';
    const page = await fetch(new URL('/', String(link)), { headers: { cookie } });
    assert.match(await page.text(), /<script type="module"/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  },
  async docs(world) {
    const child = spawn(VIRTCTL, ['docs', '--no-open'], { env: world.env, stdio: ['ignore', 'pipe', 'ignore'] });
    const [address] = (await once(child.stdout, 'data')) as [Buffer];
    const page = await fetch(new URL('/tasks-images.html', String(address)));
    assert.match(await page.text(), /<title>Images - kubevirt-ts<\/title>/);
    child.kill('SIGTERM');
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  },
  async 'port-forward'(world) {
    await world.while(['port-forward', 'vm/guest', '0:80'], async (said) => {
      const [, port] = /forwarding tcp 127\.0\.0\.1:(\d+) to 80/.exec(said) ?? [];
      assert.match(
        await (await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(20_000) })).text(),
        /Hello from a virtual machine/,
      );
    });
  },
  async expose(world) {
    const said = await world.say('expose', 'vm', 'guest', '--name', 'guest-http', '--port', '8080', '--target-port', '80');
    assert.equal(said, 'Service guest-http successfully created for virtualmachine guest\n');
    const address = await world.cluster.field('vmi', 'guest', '.status.interfaces[0].ipAddress');
    const slices = [
      'get',
      'endpointslices',
      '-l',
      'kubernetes.io/service-name=guest-http',
      '-o',
      'jsonpath={.items[*].endpoints[*].addresses[*]}',
    ];
    await untilOk(async () => ({ code: (await world.cluster.must('kubectl', slices)) === address ? 0 : 1, stdout: '', stderr: '' }));
    assert.equal(await world.cluster.must('kubectl', slices), address);
  },
  async 'create vm'(world) {
    const yaml = await world.say(
      'create',
      'vm',
      '--name',
      'written',
      '--run-strategy',
      'Halted',
      '--volume-containerdisk',
      'localhost/guests/tiny',
    );
    await world.cluster.must('kubectl', ['create', '-f', '-'], { input: yaml });
    assert.equal(await world.cluster.field('vm', 'written', '.spec.runStrategy'), parse(yaml).spec.runStrategy);
  },
  async completion(world) {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const path = world.file(`completion.${shell}`);
      writeFileSync(path, await world.say('completion', shell));
      if (existsSync(`/usr/bin/${shell}`)) assert.equal((await run(shell, ['-n', path])).code, 0, shell);
    }
    const ask = `source ${world.file('completion.bash')}; COMP_WORDS=(virtctl console g); COMP_CWORD=2; ${COMPLETE}`;
    const { stdout, stderr } = await run('bash', ['-c', ask], {
      env: { ...world.env, PATH: `${join(PROJECT, 'bin')}:${process.env['PATH']}` },
    });
    assert.match(stdout, /^guest\b/m, stderr);
  },
  async install(world) {
    // what it does to a Kubernetes cluster is in test/kubernetes/install.test.ts
    const { code, stderr } = await world.cluster.virtctl(['install', '--context', contextOf(world)]);
    assert.match(`${code} ${stderr}`, /^4 .*error\[EMBEDDED_CLUSTER\]/s);
  },
  async uninstall(world) {
    const { code, stderr } = await world.cluster.virtctl(['uninstall', '--context', contextOf(world)]);
    assert.match(`${code} ${stderr}`, /^4 .*error\[EMBEDDED_CLUSTER\]/s);
    await world.status('Running');
  },
  async backup(world) {
    assert.match(await world.say('backup', world.file('objects')), /^\d+ objects are in /);
    await world.cluster.must('kubectl', ['delete', 'vm', 'written']);
  },
  async down(world) {
    assert.match(await world.say('down'), /✓ guests +1 shut down/);
    assert.deepEqual(world.cluster.guestPids(), []);
    assert.match((await world.cluster.virtctl(['status'])).stderr, /^error\[NOT_RUNNING\]/);
  },
  async restore(world) {
    assert.match(await world.say('restore', world.file('objects')), /^\d+ objects are restored/);
    await world.say('up');
    assert.equal(await world.cluster.field('vm', 'written', '.spec.runStrategy'), 'Halted');
    await world.status('Running');
  },
};

/** The function that the script has registered, and what it proposes. */
const COMPLETE = '$(complete -p virtctl | sed "s/.*-F \\([^ ]*\\).*/\\1/"); IFS=,; echo "$COMPREPLY"';

const NAMES = COMMANDS.filter(({ words }) => existsSync(join(SOURCES, ...words, 'run.ts'))).map(({ words }) => words.join(' '));

/** Steps from the folders of commands, each behind the one that it names. */
async function allSteps(): Promise<ReadonlyMap<string, (world: World) => Promise<void>>> {
  const own = new Map<string, Step>();
  for (const name of NAMES) {
    const path = join(SOURCES, ...name.split(' '), 'step.testing.ts');
    if (existsSync(path)) own.set(name, ((await import(path)) as { step: Step }).step);
  }
  const steps = new Map<string, (world: World) => Promise<void>>();
  const add = (name: string, step: (world: World) => Promise<void>) => {
    steps.set(name, step);
    for (const [next, { after, run }] of own) if (after === name) add(next, run);
  };
  for (const [name, step] of Object.entries(NARRATIVE)) add(name, step);
  return steps;
}

test('every command has one step', async () => {
  assert.deepEqual([...(await allSteps()).keys()].sort(), NAMES.toSorted());
});

test('every command of virtctl, with a real guest', async (t) => {
  execFileSync(process.execPath, ['tools/guest-image/build.ts', 'agent'], { cwd: PROJECT, stdio: ['ignore', 'ignore', 'inherit'] });
  const world = new World();
  await using _cluster = world.cluster;
  for (const [command, step] of await allSteps()) await t.test(command, () => step(world));
});

/** A boot of the same guest: what was in its memory is gone, its instance and its QEMU are not. */
async function bootsAgain(world: World, act: () => Promise<string>): Promise<void> {
  const before = [await world.uid(), ...world.cluster.guestPids()];
  await world.inGuest('touch /run/before');
  await act();
  const booted = await untilOk(() => world.cluster.virtctl(['exec', 'guest', '--', 'test', '!', '-e', '/run/before']));
  assert.equal(booted.code, 0, booted.stderr);
  assert.deepEqual([await world.uid(), ...world.cluster.guestPids()], before);
}

async function uidOrNone(world: World): Promise<string> {
  return (await world.cluster.kubectl(['get', 'vmi', 'guest', '-o', 'jsonpath={.metadata.uid}'])).stdout;
}

function contextOf(world: World): string {
  return parse(readFileSync(world.file('kubeconfig'), 'utf8'))['current-context'];
}

/** Again until it works; the last answer when it does not within two minutes. */
async function untilOk(attempt: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + 120_000;
  while (true) {
    const result = await attempt();
    if (result.code === 0 || performance.now() > deadline) return result;
    await run('sleep', ['0.5']);
  }
}
