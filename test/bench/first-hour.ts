/**
 * What a new user meets: how large the npm package is, how long it takes from `npm install` to the login prompt of a first machine, and how long
 * `virtctl run` takes once its image is there, beside the same QEMU started bare.
 */
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readlinkSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../../src/testing/until.ts';
import { packNpm } from '../../tools/release/pack-npm.ts';
import { OrdinaryUser } from '../e2e/ordinary-user.ts';
import { argumentsOf, record, timeBare } from './bare-qemu.ts';
import { occasion, ratio, seconds } from './figures.ts';

const MIB = 2 ** 20;

export async function benchmark(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubevirt-ts-packed-'));
  try {
    chmodSync(folder, 0o755);
    const tarball = await packNpm({ into: folder, commit: 'unknown' });
    await using user = new OrdinaryUser();
    const prefix = join(user.home, 'npm');

    const started = performance.now();
    await user.must('npm', ['install', '-g', '--offline', '--prefix', prefix, tarball]);
    const installMs = performance.now() - started;
    await user.must('virtctl', ['up']);
    await untilPromptOf(user, 'first');
    const promptMs = performance.now() - started;

    const again = performance.now();
    await untilPromptOf(user, 'second');
    const runMs = performance.now() - again;
    const pid = qemuOf(user, 'second');
    if (pid === undefined) throw new Error(`no QEMU of the second machine runs below ${user.home}`);
    const recording = record(pid);
    await user.must('virtctl', ['stop', 'first']);
    await user.must('virtctl', ['stop', 'second']);
    await until(() => qemuOf(user, 'second') === undefined, 'the end of the guest, which holds its disk');
    const bareMs = await timeBare(recording);
    await user.must('virtctl', ['down', '--purge']);
    report({ packedBytes: statSync(tarball).size, installedBytes: sizeOf(prefix), installMs, promptMs, runMs, bareMs });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** `run` opens the console when the machine waits at its prompt. */
async function untilPromptOf(user: OrdinaryUser, name: string): Promise<void> {
  await using session = user.session('virtctl', ['run', 'tiny', '--name', name]);
  await session.expect(/Connected to the console/);
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

type Figures = Readonly<Record<'packedBytes' | 'installedBytes' | 'installMs' | 'promptMs' | 'runMs' | 'bareMs', number>>;

function report({ packedBytes, installedBytes, installMs, promptMs, runMs, bareMs }: Figures): void {
  const figures = {
    benchmark: 'first-hour',
    ...occasion(),
    packedMiB: Math.round(packedBytes / MIB),
    installedMiB: Math.round(installedBytes / MIB),
    installMs: Math.round(installMs),
    installToPromptMs: Math.round(promptMs),
    runMs: Math.round(runMs),
    bareMs: Math.round(bareMs),
    ratio: ratio(runMs, bareMs),
  };
  console.log(`npm package, packed and installed    ${figures.packedMiB} MiB, ${figures.installedMiB} MiB`);
  console.log(`npm install                          ${seconds(installMs)}`);
  console.log(`npm install to the login prompt      ${seconds(promptMs)}`);
  console.log(`virtctl run, image there, to prompt  ${seconds(runMs)}   x ${figures.ratio}`);
  console.log(`bare QEMU to the prompt              ${seconds(bareMs)}`);
  console.log(JSON.stringify(figures));
}
