/** From an image to a prompt: makes a machine, shows how it comes up and opens its console. */
import { PERSISTENT_VOLUME_CLAIMS, type PersistentVolumeClaim } from '../../../api/core/volume.ts';
import { type VirtualMachine, VMS } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { ApiError } from '../../../base/errors.ts';
import { buildClaim } from '../../../sdk/manifest/claim.ts';
import { buildVm } from '../../../sdk/manifest/vm.ts';
import { showConsole } from '../../console/console.ts';
import { untilRunning } from '../../console/until-running.ts';
import { parseMachineName } from '../../create/machine-name.ts';
import { parseAmount } from '../../create/parse-amount.ts';
import { randomName } from '../../create/random-name.ts';
import type { Connection, ConnectionFlags, Deps } from '../../deps.ts';
import { watchBoot } from '../../embedded/boot.ts';
import { createProgress } from '../../progress.ts';
import { readInput } from '../../read-input.ts';

type RunFlags = ConnectionFlags & {
  readonly name?: string;
  readonly memory: string;
  readonly cpus?: number;
  readonly disk: string;
  readonly ephemeral: boolean;
  readonly cloudInit?: string;
  readonly detach: boolean;
  readonly dryRun: boolean;
  readonly output: 'yaml' | 'json';
};
/** What is to be made; without a claim nothing that the guest writes is kept. */
type Wanted = { readonly vm: VirtualMachine; readonly claim?: PersistentVolumeClaim };

/** The guests that come with us, by their short names. */
const OWN_GUESTS = ['tiny', 'tiny32', 'agent', 'cloud'];
const GRACE_PERIOD_SECONDS = 30;
const CONSOLE_PATIENCE_MINUTES = 5;
const INTERRUPTED = 130;

export async function run(deps: Deps, flags: RunFlags, image: string): Promise<void> {
  const wanted = machineFor(image, flags);
  if (flags.dryRun) return printManifest(deps, wanted, flags.output);
  const connection = await deps.connect(flags);
  const { name } = wanted.vm.metadata;
  const made = { isSure: false };
  const interrupted = () => leave(deps, wanted, made.isSure);
  const stopListening = deps.onSignal('SIGINT', interrupted);
  const vm = await make(wanted, connection);
  made.isSure = true;
  if (flags.detach) {
    deps.stdout.write(`${name}\n`);
    return;
  }
  await showBoot(deps, vm, connection);
  stopListening(); // from here on the keys are the guest's
  const connected = { ...deps, ...connection };
  await untilRunning(connected, name, CONSOLE_PATIENCE_MINUTES);
  await showConsole(connected, name);
  deps.stderr.write(`${name} keeps running. virtctl stop ${name} stops it, virtctl delete ${name} removes ${what(wanted)}.\n`);
}

function machineFor(image: string, flags: RunFlags): Wanted {
  const reference = OWN_GUESTS.includes(image) ? `localhost/guests/${image}:latest` : image;
  const userData = flags.cloudInit === undefined ? undefined : readInput(flags.cloudInit);
  const name = flags.name === undefined ? randomName(stemOf(image)) : parseMachineName('--name', flags.name);
  const size = parseAmount('--disk', flags.disk);
  const claim = flags.ephemeral ? undefined : buildClaim({ name: `${name}-root`, image: reference, size });
  const vm = buildVm({
    name,
    runStrategy: 'Always',
    memory: parseAmount('--memory', flags.memory),
    ...(flags.cpus !== undefined && { cpus: flags.cpus }),
    gracePeriodSeconds: GRACE_PERIOD_SECONDS,
    images: claim ? [] : [{ source: reference, name: 'root' }],
    claims: claim ? [{ source: claim.metadata.name, name: 'root' }] : [],
    ...(userData && { userDataBase64: userData.toString('base64') }),
  });
  return { vm, ...(claim && { claim }) };
}

/** The claim first, so that the machine finds it; then it belongs to the machine and goes with it. A machine that is refused leaves none. */
async function make({ vm, claim }: Wanted, { client, namespace }: Connection): Promise<VirtualMachine> {
  const at = <T extends VirtualMachine | PersistentVolumeClaim>(object: T): T => ({
    ...object,
    metadata: { ...object.metadata, namespace },
  });
  if (!claim) return client.create(VMS, at(vm));
  if (await client.get(VMS, { namespace, name: vm.metadata.name }))
    throw new ApiError('AlreadyExists', `virtualmachines.kubevirt.io "${vm.metadata.name}" already exists`); // rather than that its claim does
  const { metadata: claimMeta } = await client.create(PERSISTENT_VOLUME_CLAIMS, at(claim));
  const created = await client.create(VMS, at(vm)).catch(async (error: unknown) => {
    await client.delete(PERSISTENT_VOLUME_CLAIMS, claimMeta, { uid: claimMeta.uid });
    throw error;
  });
  const { name, uid } = created.metadata;
  const ownerReferences = [{ apiVersion: created.apiVersion, kind: created.kind, name, uid }];
  await client.patch(PERSISTENT_VOLUME_CLAIMS, claimMeta, { metadata: { ownerReferences } });
  return created;
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

async function printManifest({ stdout }: Deps, { vm, claim }: Wanted, format: 'yaml' | 'json'): Promise<void> {
  if (format === 'json') {
    const whole = claim ? { apiVersion: 'v1', kind: 'List', items: [claim, vm] } : vm;
    stdout.write(`${JSON.stringify(whole, null, 2)}\n`);
    return;
  }
  const { stringify } = await import('yaml');
  const text = (object: object) => stringify(object, { lineWidth: 0 });
  const note = '# Made from this file, the disk stays when the machine is deleted; virtctl run makes it part of the machine.\n';
  stdout.write(claim ? `${note}${text(claim)}---\n${text(vm)}` : text(vm));
}

/** Progress goes to stderr: what is on stdout is the guest's. */
async function showBoot({ stderr, clock }: Deps, vm: VirtualMachine, { client, openConsole }: Connection): Promise<void> {
  await createProgress(stderr, clock).step('vm', (step) => watchBoot({ client, openConsole, vm, onLine: step.update }));
}

/** Ctrl+C leaves the machine as it is and says so. */
function leave({ stderr, exit }: Deps, wanted: Wanted, isMade: boolean): never {
  const { name } = wanted.vm.metadata;
  const claim = wanted.claim?.metadata.name;
  stderr.write(
    isMade
      ? `\n${name} keeps starting. virtctl console ${name} shows it, virtctl delete ${name} removes ${what(wanted)}.\n`
      : `\nInterrupted while ${name} was being made. virtctl ls shows whether it is there${claim ? `, kubectl get pvc ${claim} its disk` : ''}.\n`,
  );
  return exit(INTERRUPTED);
}

function what({ claim }: Wanted): string {
  return claim ? 'it with its disk' : 'it';
}
