/**
 * Everything between "the Pod has started" and "QEMU runs": disks, cloud-init, privileges, arguments. All of it is synchronous: this process
 * does one thing after the other and then becomes QEMU. When a step fails, what the earlier ones made is taken away again.
 */
import { accessSync, constants, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { normaliseVmiSpec } from '../api/kubevirt/normalise-vmi-spec.ts';
import { DISKS_FOLDER } from '../api/launcher/files.ts';
import { PRIVATE_VOLUME, PUBLIC_VOLUME } from '../api/launcher/mounts.ts';
import { GUEST_WAY_OUT_VARIABLE, LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { sandboxPath } from '../base/node/sandbox-path.ts';
import { chooseAcceleration } from '../qemu/accelerator.ts';
import { argumentsFor } from '../qemu/convert/arguments.ts';
import type { DiskImage } from '../qemu/convert/input.ts';
import { findQemu } from '../qemu/find-qemu.ts';
import { makeImages } from './make-images.ts';
import { stepDown } from './privileges.ts';

type Environment = Readonly<Record<string, string | undefined>>;
export type QemuCommand = { readonly program: string; readonly args: readonly string[]; readonly env: Record<string, string> };

/** Gets this process ready to become QEMU: its folder, its user and its umask are QEMU's when this returns. */
export function prepare({ env, report }: { env: Environment; report: (line: string) => void }): QemuCommand {
  const vmi = readVmi(env);
  const program = findQemu(env);
  const publicFolder = folder(PUBLIC_VOLUME.mountPath, env);
  // From QEMU's own folder: short, and open even when the folders above are closed to QEMU's user.
  const diskFolder = relative(publicFolder, join(folder(PRIVATE_VOLUME.mountPath, env), DISKS_FOLDER));
  process.umask(0o077);
  process.chdir(publicFolder);
  const privileges = stepDown(env);
  makeEmpty(diskFolder);
  try {
    const images = makeImages({ vmi, folder: diskFolder, env, privileges, report });
    privileges.dropForGood();
    checkAccess(images);
    const acceleration = chooseAcceleration(env);
    report(`acceleration: ${acceleration.accel} (${acceleration.why})`);
    const args = argumentsFor({
      vmi,
      host: { ...acceleration, isClosed: env[GUEST_WAY_OUT_VARIABLE] === 'none' },
      files: { images },
    });
    report(`starting ${program} as user ${process.getuid?.()}`);
    return { program, args, env: environmentOfQemu(env) };
  } catch (error) {
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

/** Asked as the user that QEMU runs as, for a better answer than QEMU's. */
function checkAccess(images: ReadonlyMap<string, DiskImage>): void {
  const check = (path: string, mode: number, what: string) => {
    try {
      accessSync(path, mode);
    } catch (error) {
      throw new UserError('FILE_INACCESSIBLE', `user ${process.getuid?.()} cannot use ${what}`, { why: messageOf(error), cause: error });
    }
  };
  check('.', constants.W_OK | constants.X_OK, `the volume at ${PUBLIC_VOLUME.mountPath}`);
  for (const [name, { path, base, isReadOnly }] of images) {
    check(path, isReadOnly ? constants.R_OK : constants.R_OK | constants.W_OK, `the disk ${name}`);
    if (base) check(base.path, constants.R_OK, `the image of disk ${name}`);
  }
}

/** The instance, with whatever secrets its cloud-init holds, does not stay in the environment of a process that runs a guest. */
function environmentOfQemu(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter(([name]) => name === 'PATH' || name.startsWith('CONTAINER_'));
  return Object.fromEntries(kept.map(([name, value]) => [name, value ?? '']));
}
