/** From an image to a prompt: makes a machine, shows how it comes up and opens its console. */
import { readFileSync } from 'node:fs';
import { type VirtualMachine, VMS } from '../../api/kubevirt/virtual-machine.ts';
import { systemClock } from '../../base/clock.ts';
import { type Connection, type ConnectionFlags, connect } from '../connect.ts';
import type { Context } from '../context.ts';
import { buildMachine } from '../create/machine.ts';
import { parseMemory } from '../create/parse-memory.ts';
import { randomName } from '../create/random-name.ts';
import { watchBoot } from '../embedded/boot.ts';
import { createProgress } from '../progress.ts';
import { console } from './console.ts';

type RunFlags = ConnectionFlags & {
  readonly name?: string;
  readonly memory: string;
  readonly cpus?: number;
  readonly cloudInit?: string;
  readonly detach: boolean;
  readonly dryRun: boolean;
  readonly output: 'yaml' | 'json';
};

/** The guests that come with us, by their short names. */
const OWN_GUESTS = ['tiny', 'tiny32', 'agent', 'cloud'];
const GRACE_PERIOD_SECONDS = 30;
const CONSOLE_PATIENCE_MINUTES = 5;
const INTERRUPTED = 130;

export async function run(this: Context, flags: RunFlags, image: string): Promise<void> {
  const vm = machineFor(image, flags);
  if (flags.dryRun) return printManifest(this, vm, flags.output);
  const connection = connect(this, flags);
  const { client, namespace } = connection;
  const { name } = vm.metadata;
  const made = { isSure: false };
  const interrupted = () => leave(this, name, made.isSure);
  this.process.once('SIGINT', interrupted);
  await client.create(VMS, { ...vm, metadata: { ...vm.metadata, namespace } });
  made.isSure = true;
  if (flags.detach) {
    this.process.stdout.write(`${name}\n`);
    return;
  }
  await showBoot(this, { ...vm, metadata: { ...vm.metadata, namespace } }, connection);
  this.process.off('SIGINT', interrupted); // from here on the keys are the guest's
  await console.call(this, { ...flags, timeout: CONSOLE_PATIENCE_MINUTES }, name);
  this.process.stderr.write(`${name} runs on. virtctl stop ${name} stops it, kubectl delete vm ${name} removes it.\n`);
}

function machineFor(image: string, flags: RunFlags): VirtualMachine {
  const reference = OWN_GUESTS.includes(image) ? `localhost/guests/${image}:latest` : image;
  const userData = flags.cloudInit === undefined ? undefined : readFileSync(flags.cloudInit === '-' ? 0 : flags.cloudInit);
  return buildMachine({
    name: flags.name ?? randomName(stemOf(image)),
    runStrategy: 'Always',
    memory: parseMemory(flags.memory),
    ...(flags.cpus !== undefined && { cpus: flags.cpus }),
    gracePeriodSeconds: GRACE_PERIOD_SECONDS,
    images: [{ source: reference, name: 'root' }],
    claims: [],
    ...(userData && { userDataBase64: userData.toString('base64') }),
  });
}

/** `registry:5000/team/My_Image:1.2@sha256:…` is called my-image. */
function stemOf(image: string): string {
  const last = image.split('@')[0]?.split('/').at(-1)?.split(':')[0] ?? '';
  return (
    last
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^[-0-9]+|-+$/g, '')
      .slice(0, 40) || 'vm'
  );
}

async function printManifest({ process: { stdout } }: Context, vm: VirtualMachine, format: 'yaml' | 'json'): Promise<void> {
  stdout.write(format === 'json' ? `${JSON.stringify(vm, null, 2)}\n` : (await import('yaml')).stringify(vm, { lineWidth: 0 }));
}

/** Progress goes to stderr: what is on stdout is the guest's. */
async function showBoot({ process }: Context, vm: VirtualMachine, { client, cluster }: Connection): Promise<void> {
  await createProgress(process.stderr, systemClock.now).step('vm', (step) => watchBoot({ client, cluster, vm, onLine: step.update }));
}

/** Ctrl+C leaves the machine as it is and says so. */
function leave({ process }: Context, name: string, isMade: boolean): never {
  process.stderr.write(
    isMade
      ? `\n${name} goes on starting. virtctl console ${name} shows it, kubectl delete vm ${name} removes it.\n`
      : `\nInterrupted while ${name} was being made. virtctl ls shows whether it is there.\n`,
  );
  return process.exit(INTERRUPTED);
}
