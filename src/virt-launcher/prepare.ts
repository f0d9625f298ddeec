/**
 * Everything between "the Pod has started" and "QEMU runs": disks, cloud-init, privileges, arguments. All of it is synchronous: this process
 * does one thing after the other and then becomes QEMU. When a step fails, what the earlier ones made is taken away again.
 */
import { closeSync, constants, existsSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { KERNEL_BOOT_VOLUME } from '../api/kubevirt/kernel-boot.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_FAIL_FAST } from '../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../api/kubevirt/normalise-vmi-spec.ts';
import { DISKS_FOLDER, EPHEMERAL_DISKS_FOLDER } from '../api/launcher/files.ts';
import type { MachineSettings } from '../api/launcher/machine-settings.ts';
import { PRIVATE_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { GUEST_WAY_OUT_VARIABLE, HIDDEN_FOLDERS_VARIABLE, LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { isolatedCommand } from '../base/node/isolated-command.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';
import { chooseAcceleration } from '../qemu/accelerator.ts';
import { argumentsFor } from '../qemu/convert/arguments.ts';
import type { DiskImage } from '../qemu/convert/input.ts';
import { findQemu } from '../qemu/find-qemu.ts';
import { copyBootFiles } from './boot-files.ts';
import { linkCloudInit } from './link-cloud-init.ts';
import { diskRoot, makeImages } from './make-images.ts';
import { type Privileges, stepDown } from './privileges.ts';
import { searchDomains } from './search-domains.ts';
import { type SharedFolders, shareFolders } from './share-folders.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type QemuCommand = { readonly program: string; readonly args: readonly string[]; readonly env: Record<string, string> };

/** Gets this process ready to become QEMU: its folder, its user and its umask are QEMU's when this returns. */
export function prepare({ env, report }: { env: Environment; report: (line: string) => void }): QemuCommand {
  const vmi = readVmi(env);
  const settings = readSettings(env);
  if (settings?.mayFailFast && vmi.metadata.annotations?.[ANNOTATION_FAIL_FAST] !== undefined)
    throw new UserError('FAIL_FAST', 'this launcher was asked to fail', { why: `the instance has the annotation ${ANNOTATION_FAIL_FAST}` });
  const program = findQemu(env);
  const publicFolder = folder(PUBLIC_VOLUME.mountPath, env);
  // From QEMU's own folder: short, and open even when the folders above are closed to QEMU's user.
  const diskFolder = relative(publicFolder, join(folder(PRIVATE_VOLUME.mountPath, env), DISKS_FOLDER));
  process.umask(0o077);
  process.chdir(publicFolder);
  const privileges = stepDown(env);
  makeEmpty(diskFolder);
  let shared: SharedFolders | undefined;
  try {
    const images = makeImages({ vmi, folder: diskFolder, env, privileges, report });
    const boot = copyBootFiles({
      ...{ domain: vmi.spec.domain, folder: diskFolder, privileges, report },
      root: () => diskRoot(KERNEL_BOOT_VOLUME, env),
    });
    shared = shareFolders({ spec: vmi.spec, folder: diskFolder, env, privileges, report });
    const hidden = hiddenFolders(env, [program, ...pathsOf(images)]);
    if (!hidden) privileges.dropForGood();
    checkAccess(images, privileges);
    const acceleration = chooseAcceleration(env);
    report(`acceleration: ${acceleration.accel} (${acceleration.why})`);
    const args = argumentsFor({
      vmi,
      ...(settings && { settings }),
      host: {
        ...acceleration,
        nowMs: Date.now(),
        isClosed: env[GUEST_WAY_OUT_VARIABLE] === 'none',
        ...(env[LAUNCHER_VARIABLES.incoming] && { isIncoming: true }),
        searchDomains: searchDomains(vmi, env),
      },
      files: { images, boot },
    });
    linkCloudInit(vmi, { images, folder: join(dirname(diskFolder), EPHEMERAL_DISKS_FOLDER) });
    report(`starting ${program} as user ${process.geteuid?.()}${hidden ? ', with mounts and processes of its own' : ''}`);
    const command = { program, args, env: environmentOfQemu(env) };
    return hidden ? isolated(command, { folder: publicFolder, hidden, privileges }) : command;
  } catch (error) {
    shared?.end();
    rmSync(diskFolder, { recursive: true, force: true });
    throw error;
  }
}

/** The instance that this Pod runs; a UserError when there is none that could be run. */
export function readVmi(env: Environment): Pick<VirtualMachineInstance, 'metadata' | 'spec'> {
  const text = env[LAUNCHER_VARIABLES.vmi];
  if (!text)
    throw new UserError('VMI_MISSING', `${LAUNCHER_VARIABLES.vmi} is not set`, {
      why: 'it holds the instance to run, virt-controller puts it into the Pod',
    });
  const vmi = parsed(text);
  if (!isObject(vmi) || !isObject(vmi['metadata']) || !isObject(vmi['spec']) || !isObject(vmi['spec']['domain']))
    throw new UserError('VMI_INVALID', `${LAUNCHER_VARIABLES.vmi} is not a VirtualMachineInstance`, {
      why: 'it lacks metadata or spec.domain',
    });
  const { metadata, spec } = vmi as Pick<VirtualMachineInstance, 'metadata' | 'spec'>; // admission has checked the rest against the schema
  return { metadata, spec: normaliseVmiSpec({ ...spec, domain: { ...spec.domain, devices: spec.domain.devices ?? {} } }) };
}

/** What the installation says of every machine; a launcher that cannot read it says so instead of running another machine. */
function readSettings(env: Environment): MachineSettings | undefined {
  const text = env[LAUNCHER_VARIABLES.settings];
  if (!text) return undefined;
  try {
    return JSON.parse(text) as MachineSettings; // virt-controller wrote it
  } catch (error) {
    throw new UserError('SETTINGS_INVALID', `${LAUNCHER_VARIABLES.settings} is not JSON`, { why: messageOf(error), cause: error });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UserError('VMI_INVALID', `${LAUNCHER_VARIABLES.vmi} is not JSON`, { why: messageOf(error), cause: error });
  }
}

function folder(path: string, env: Environment): string {
  try {
    return realpathSync(sandboxPath(path, env));
  } catch (error) {
    throw new UserError('VOLUME_MISSING', `${path} is not mounted`, { why: messageOf(error), cause: error });
  }
}

/** Files of a try that was killed go first. */
function makeEmpty(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
    mkdirSync(path);
  } catch (error) {
    throw new UserError('FILE_INACCESSIBLE', `user ${process.geteuid?.()} cannot write to the volume at ${PRIVATE_VOLUME.mountPath}`, {
      why: messageOf(error),
      cause: error,
    });
  }
}

/** Asked as the user that QEMU runs as, for a better answer than QEMU's. By opening: what `access` answers is for the user that started us. */
function checkAccess(images: ReadonlyMap<string, DiskImage>, { user }: Privileges): void {
  const check = (what: string, use: () => void) => {
    try {
      use();
    } catch (error) {
      const uid = user?.uid ?? process.getuid?.();
      throw new UserError('FILE_INACCESSIBLE', `user ${uid} cannot use ${what}`, { why: messageOf(error), cause: error });
    }
  };
  const open = (path: string, flags: number) => closeSync(openSync(path, flags | constants.O_NONBLOCK));
  check(`the volume at ${PUBLIC_VOLUME.mountPath}`, () => rmdirSync(mkdtempSync('./check-')));
  for (const [name, { path, base, isReadOnly }] of images) {
    check(`the disk ${name}`, () => open(path, isReadOnly ? constants.O_RDONLY : constants.O_RDWR));
    if (base) check(`the image of disk ${name}`, () => open(base.path, constants.O_RDONLY));
  }
}

function pathsOf(images: ReadonlyMap<string, DiskImage>): string[] {
  return [...images.values()].flatMap(({ path, base }) => [path, ...(base ? [base.path] : [])]);
}

/** What the node runtime wants hidden, less what QEMU needs a way through: files that could not be linked are opened by their path. */
function hiddenFolders(env: Environment, needed: readonly string[]): string[] | undefined {
  const text = env[HIDDEN_FOLDERS_VARIABLE];
  if (!text) return undefined;
  const folders = JSON.parse(text) as string[]; // no Pod can set it
  return folders.filter((folder) => existsSync(folder) && !needed.some((path) => path.startsWith(`${folder}/`)));
}

type Isolating = { readonly folder: string; readonly hidden: readonly string[]; readonly privileges: Privileges };

/** Root again until the namespaces are there; the program that makes them becomes QEMU's user. */
function isolated({ program, args, env }: QemuCommand, { folder, hidden, privileges }: Isolating): QemuCommand {
  const [unshare = '', ...rest] = isolatedCommand([program, ...args], { folder, hidden, user: privileges.user });
  privileges.stepUp();
  process.chdir('/');
  return { program: unshare, args: rest, env };
}

/** The instance, with whatever secrets its cloud-init holds, does not stay in the environment of a process that runs a guest. */
function environmentOfQemu(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => name === 'PATH' || name.startsWith('CONTAINER_'));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}
