/**
 * What a new user meets: how large the npm package is, how long it takes from `npm install` to the login prompt of a first machine (the demo guest; and for
 * another person Debian, from a catalogue on the loopback), and how long `virtctl run` takes once its image is there, beside the same QEMU started bare.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../src/testing/until.ts';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { OrdinaryUser } from '../e2e/ordinary-user.ts';
import { DEBIAN, writeCatalogue } from '../soak/catalogue.ts';
import { argumentsOf, record, timeBare } from './bare-qemu.ts';
import { occasion, ratio, seconds } from './figures.ts';

const MIB = 2 ** 20;

const SERVER = join(import.meta.dirname, '../e2e/folder-server.ts');
const PORT = 8098;
const PATIENCE_MS = 900_000;

export async function benchmark(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-packed-'));
  try {
    chmodSync(folder, 0o755);
    const tarball = await packNpm({ into: folder, commit: 'unknown' });
    const catalogue = await writeCatalogue(join(folder, 'served'), { port: PORT, guest: DEBIAN });
    const demo = await measureDemo(tarball);
    const debian = await measureDebian(tarball, catalogue);
    report({ packedBytes: statSync(tarball).size, ...demo, ...debian });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measureDemo(tarball: string) {
  await using user = new OrdinaryUser();
  const started = performance.now();
  const prefix = await install(user, tarball);
  const installMs = performance.now() - started;
  await user.must('virtctl', ['up']);
  await untilConsoleOf(user, ['tiny', '--name', 'first']);
  const promptMs = performance.now() - started;

  const run = await measureRun(user, 'tiny');
  await user.must('virtctl', ['down', '--purge']);
  return { installedBytes: sizeOf(prefix), installMs, promptMs, ...run };
}

/** Somebody else, who has nothing yet: the disk is downloaded, checked and made into an image on the way. */
async function measureDebian(tarball: string, catalogue: string) {
  await using user = new OrdinaryUser();
  const server = fork(SERVER, [catalogue, String(PORT)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  try {
    await once(server.stdout ?? server, 'data');
    const started = performance.now();
    await install(user, tarball);
    await user.must('virtctl', ['up']);
    await user.must('virtctl', ['image', 'catalogue', 'add', `http://127.0.0.1:${PORT}/catalogue.json`]);
    await untilConsoleOf(user, ['debian', '--name', 'first']);
    const debianPromptMs = performance.now() - started;
    await user.must('virtctl', ['shell', 'first', '--', 'true']);
    const debianShellMs = performance.now() - started;

    const { runMs, bareMs } = await measureRun(user, 'debian');
    await user.must('virtctl', ['down', '--purge']);
    return { debianPromptMs, debianShellMs, debianRunMs: runMs, debianBareMs: bareMs };
  } finally {
    server.kill();
  }
}

/** Where it was installed to. */
async function install(user: OrdinaryUser, tarball: string): Promise<string> {
  const prefix = join(user.home, 'npm');
  await user.must('npm', ['install', '-g', '--offline', '--prefix', prefix, tarball]);
  return prefix;
}

/** A second machine, whose image is there; then its QEMU alone. */
async function measureRun(user: OrdinaryUser, image: string): Promise<{ readonly runMs: number; readonly bareMs: number }> {
  await user.must('virtctl', ['stop', 'first']);
  const begun = performance.now();
  await untilConsoleOf(user, [image, '--name', 'second']);
  const runMs = performance.now() - begun;
  const pid = qemuOf(user, 'second');
  if (pid === undefined) throw new Error(`no QEMU of the second machine runs below ${user.home}`);
  const recording = record(pid);
  await user.must('virtctl', ['stop', 'second']);
  await until(() => qemuOf(user, 'second') === undefined, 'the end of the guest, which holds its disk');
  return { runMs, bareMs: await timeBare(recording) };
}

/** `run` opens the console when the machine waits at its prompt. */
async function untilConsoleOf(user: OrdinaryUser, run: readonly string[]): Promise<void> {
  await using session = user.session('virtctl', ['run', ...run]);
  await session.expect(/Connected to the console/, PATIENCE_MS);
}

/** The process of this machine, whose name is among its arguments. */
function qemuOf(user: OrdinaryUser, name: string): number | undefined {
  const isIts = (pid: string) => {
    const [program = '', ...args] = argumentsOf(pid);
    return (
      program.includes('qemu-system') && args.some((text) => text.includes(name)) && readlinkSync(`/proc/${pid}/cwd`).startsWith(user.home)
    );
  };
  const found = readdirSync('/proc').find((entry) => /^\d+$/.test(entry) && isIts(entry));
  return found === undefined ? undefined : Number(found);
}

function sizeOf(folder: string): number {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => lstatSync(join(folder, name)));
  return files.reduce((sum, { size }) => sum + size, 0);
}

type Measured = 'packedBytes' | 'installedBytes' | 'installMs' | 'promptMs' | 'runMs' | 'bareMs';
type MeasuredDebian = 'debianPromptMs' | 'debianShellMs' | 'debianRunMs' | 'debianBareMs';
type Figures = Readonly<Record<Measured | MeasuredDebian, number>>;

function report({ packedBytes, installedBytes, promptMs, ...times }: Figures): void {
  const { installMs, runMs, bareMs, debianPromptMs, debianShellMs, debianRunMs, debianBareMs } = times;
  const figures = {
    benchmark: 'first-hour',
    ...occasion(),
    packedMiB: Math.round(packedBytes / MIB),
    installedMiB: Math.round(installedBytes / MIB),
    installToPromptMs: Math.round(promptMs),
    ...Object.fromEntries(Object.entries(times).map(([name, value]) => [name, Math.round(value)])),
    ratio: ratio(runMs, bareMs),
    debianRatio: ratio(debianRunMs, debianBareMs),
  };
  console.log(`npm package, packed and installed    ${figures.packedMiB} MiB, ${figures.installedMiB} MiB`);
  console.log(`npm install                          ${seconds(installMs)}`);
  console.log(
    `npm install to the login prompt      ${seconds(promptMs)}; of Debian ${seconds(debianPromptMs)}, in a shell ${seconds(debianShellMs)}`,
  );
  console.log(
    `virtctl run, image there, to prompt  ${seconds(runMs)}   x ${figures.ratio}; Debian ${seconds(debianRunMs)}   x ${figures.debianRatio}`,
  );
  console.log(`bare QEMU to the prompt              ${seconds(bareMs)}; Debian ${seconds(debianBareMs)}`);
  console.log(JSON.stringify(figures));
}
