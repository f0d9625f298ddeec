/** From a name to a prompt: brings an image in, makes a machine of it, shows how it comes up and enters it. */
import { existsSync, statSync } from 'node:fs';
import { arch, homedir } from 'node:os';
import type { VirtualMachine } from '../../../api/kubevirt/kinds/virtual-machine.ts';
import { UserError } from '../../../base/errors.ts';
import { architectureOf } from '../../../images/catalogue/entry.ts';
import { MOST_BYTES } from '../../../images/qcow2-header.ts';
import { openImageStore } from '../../../images/store.ts';
import { makeMachine, type Wanted } from '../../../sdk/make-machine.ts';
import { showConsole } from '../../console/console.ts';
import { untilRunning } from '../../console/until-running.ts';
import { parseMachineName } from '../../create/machine-name.ts';
import { parseAmount } from '../../create/parse-amount.ts';
import { randomName } from '../../create/random-name.ts';
import type { Connection, ConnectionFlags, Deps } from '../../deps.ts';
import { watchBoot } from '../../embedded/boot.ts';
import { currentCatalogue } from '../../images/current-catalogue.ts';
import { isOwnEmbedded } from '../../images/own-cluster.ts';
import { type ResolvedImage, resolveImage } from '../../images/resolve-image.ts';
import { createProgress } from '../../progress.ts';
import { enterMachine } from '../../shell/enter-machine.ts';
import { storeFolder } from '../image/store-folder.ts';
import { type LoginFlags, type LoginPlan, planLogin } from './login.ts';
import { machineFor } from './machine.ts';
import { foldersToShare, type SharedFolder } from './mounts.ts';
import { printManifest } from './print-manifest.ts';
import { referenceFor } from './reference.ts';
import { runThrowAway } from './throw-away.ts';
import { parseRunWords } from './words.ts';

type RunFlags = ConnectionFlags &
  LoginFlags & {
    readonly name?: string;
    readonly memory?: string;
    readonly cpus?: number;
    readonly disk?: string;
    readonly mount?: readonly string[];
    readonly ephemeral: boolean;
    readonly detach: boolean;
    readonly rm: boolean;
    readonly agentTimeout: number;
    readonly timeout: number;
    readonly stdin: boolean;
    readonly dryRun: boolean;
    readonly output: 'yaml' | 'json';
  };

const CONSOLE_PATIENCE_MINUTES = 5;
const INTERRUPTED = 130;

export async function run(deps: Deps, flags: RunFlags, ...words: string[]): Promise<number | undefined> {
  const { image: said, command } = parseRunWords(words, flags);
  const sizes = sizesIn(flags);
  const catalogue = await currentCatalogue(deps);
  const image = resolveImage(said, { ...surroundings(deps), catalogue });
  const name = flags.name === undefined ? randomName(image.stem) : parseMachineName('--name', flags.name);
  const folders = foldersToShare(flags.mount, deps);
  if (flags.dryRun && folders.length > 0) throw noDryRun();
  const connection = flags.dryRun ? undefined : await deps.connect(flags);
  const shared = connection && folders.length > 0 ? await sharedHere(deps, connection, folders) : [];
  const login = await planLogin(image, flags, { home: deps.home, shared });
  for (const note of [login.note, notMounted(shared, login, flags)]) if (note) deps.stderr.write(`virtctl: ${said}: ${note}\n`);
  const found = await referenceFor(deps, { name, image, said, connection, cacheBytes: catalogue.cacheBytes });
  const { cpus, ephemeral: isEphemeral, rm: isThrownAway, agentTimeout: agentSeconds, timeout: timeoutSeconds, stdin } = flags;
  const wanted = machineFor({ name, ...found, entry: image.entry, ...sizes, cpus, isEphemeral, isThrownAway, ...login, shared });
  if (!connection) await printManifest(deps, wanted, flags.output);
  else if (command)
    return runThrowAway(
      { ...deps, ...connection },
      { wanted, command, isBySsh: image.entry?.agent === false && login.hasOurKey, agentSeconds, timeoutSeconds, stdin, connection: flags },
    );
  else await start(deps, { wanted, connection, flags, image, login });
  return undefined;
}

type Start = {
  readonly wanted: Wanted;
  readonly connection: Connection;
  readonly flags: RunFlags;
  readonly image: ResolvedImage;
  readonly login: LoginPlan;
};

async function start(deps: Deps, { wanted, connection, flags, image, login }: Start): Promise<void> {
  const { name } = wanted.vm.metadata;
  const made = { isSure: false };
  const interrupted = () => leave(deps, wanted, made.isSure);
  const stopListening = deps.onSignal('SIGINT', interrupted);
  const vm = await makeMachine(wanted, connection);
  made.isSure = true;
  if (flags.detach) {
    deps.stdout.write(`${name}\n`);
    return;
  }
  await showBoot(deps, vm, connection);
  stopListening(); // from here on the keys are the guest's
  if (image.entry?.login) deps.stderr.write(`Log in: ${image.entry.login}.\n`);
  await enter(deps, { name, connection, flags, login });
  deps.stderr.write(`${name} keeps running. virtctl stop ${name} stops it, virtctl delete ${name} removes ${what(wanted)}.\n`);
}

/** By ssh where the key is the only way in; otherwise the console, where somebody may type a password. */
async function enter(deps: Deps, options: { name: string; connection: Connection; flags: RunFlags; login: LoginPlan }): Promise<void> {
  const { name, connection, flags, login } = options;
  const connected = { ...deps, ...connection };
  if (login.hasOurKey && login.user !== 'root' && deps.stdin.isTTY) {
    await enterMachine(connected, { name, flags: { ...flags, port: 22, stdin: false, timeout: CONSOLE_PATIENCE_MINUTES } });
    return;
  }
  await untilRunning(connected, name, CONSOLE_PATIENCE_MINUTES);
  await showConsole(connected, name);
}

function surroundings(deps: Deps) {
  const storeDir = storeFolder(deps);
  return {
    architecture: architectureOf(arch()),
    workingFolder: deps.workingFolder,
    homeFolder: homedir(),
    isFile: (path: string) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
    isStored: (reference: string) => existsSync(storeDir) && openImageStore(storeDir).resolve(reference) !== undefined,
  };
}

/** Only the cluster of this data folder is on this machine, and is the user's own. */
async function sharedHere(deps: Deps, connection: Connection, folders: readonly SharedFolder[]): Promise<readonly SharedFolder[]> {
  if (await isOwnEmbedded(deps, connection)) return folders;
  throw new UserError('FOLDER_NOT_SHAREABLE', `the cluster at ${connection.server} cannot have folders of this machine`, {
    why: 'only the embedded cluster of this data folder shares them',
    fix: 'copy the files instead: virtctl scp',
    exitCode: 4,
  });
}

function noDryRun(): UserError {
  return new UserError('USAGE', '--mount cannot be combined with --dry-run', {
    why: 'the volume of a folder is made for a PVC that is there already',
    fix: 'leave --mount out to see the rest',
    exitCode: 2,
  });
}

/** Who is told nothing by us mounts it by hand. */
function notMounted(shared: readonly SharedFolder[], { userData }: LoginPlan, { cloudInit }: RunFlags): string | undefined {
  if (shared.length === 0 || (userData && cloudInit === undefined)) return undefined;
  const commands = shared.map(({ tag, place }) => `mount -t virtiofs ${tag} ${place}`).join('; ');
  return `cloud-init is not told what to mount; in the guest: ${commands}`;
}

function sizesIn({ memory, disk }: RunFlags): { readonly memory?: string; readonly disk?: string } {
  return {
    ...(memory !== undefined && { memory: parseAmount('--memory', memory) }),
    ...(disk !== undefined && { disk: parseAmount('--disk', disk, MOST_BYTES) }),
  };
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
