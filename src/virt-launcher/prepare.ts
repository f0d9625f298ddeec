/**
 * Everything between "the Pod has started" and "QEMU runs": disks, cloud-init, privileges, arguments. All of it is synchronous: this process
 * does one thing after the other and then becomes QEMU.
 */
import { dirname, join } from 'node:path';
import { KERNEL_BOOT_VOLUME } from '../api/kubevirt/kernel-boot.ts';
import type { VirtualMachineInstance } from '../api/kubevirt/kinds/virtual-machine-instance.ts';
import { ANNOTATION_FAIL_FAST } from '../api/kubevirt/names.ts';
import { normaliseVmiSpec } from '../api/kubevirt/normalise-vmi-spec.ts';
import { EPHEMERAL_DISKS_FOLDER } from '../api/launcher/files.ts';
import type { MachineSettings } from '../api/launcher/machine-settings.ts';
import { GUEST_WAY_OUT_VARIABLE, LAUNCHER_VARIABLES } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';
import { isObject } from '../base/json.ts';
import { chooseAcceleration } from '../qemu/accelerator.ts';
import { argumentsFor } from '../qemu/convert/arguments.ts';
import { findQemu } from '../qemu/find-qemu.ts';
import { copyBootFiles } from './boot-files.ts';
import { linkCloudInit } from './link-cloud-init.ts';
import { diskRoot } from './make-images.ts';
import { type Environment, type Program, readyProcess } from './ready-process.ts';
import { asSaved, resumeFrom, tellMachine } from './resume-memory.ts';
import { searchDomains } from './search-domains.ts';
import { type SharedFolders, shareFolders } from './share-folders.ts';
import { tellBehind } from './tell-behind.ts';
import { tellContents } from './tell-contents.ts';

/** Gets this process ready to become QEMU: its folder, its user and its umask are QEMU's when this returns. */
export function prepare({ env, report }: { env: Environment; report: (line: string) => void }): Program {
  const vmi = readVmi(env);
  const settings = readSettings(env);
  if (settings?.mayFailFast && vmi.metadata.annotations?.[ANNOTATION_FAIL_FAST] !== undefined)
    throw new UserError('FAIL_FAST', 'this launcher was asked to fail', { why: `the instance has the annotation ${ANNOTATION_FAIL_FAST}` });
  let shared: SharedFolders | undefined;
  const program = findQemu(env);
  try {
    return readyProcess({
      ...{ env, vmi: asSaved(vmi, env), program, report },
      argumentsFrom({ images, diskFolder, privileges }) {
        const boot = copyBootFiles({
          ...{ domain: vmi.spec.domain, folder: diskFolder, privileges, report },
          root: () => diskRoot(KERNEL_BOOT_VOLUME, env),
        });
        const memory = resumeFrom(env, privileges);
        shared = shareFolders({ spec: vmi.spec, folder: diskFolder, env, privileges, report });
        return () => {
          const acceleration = chooseAcceleration(env);
          report(`acceleration: ${acceleration.accel} (${acceleration.why})`);
          const args = argumentsFor({
            vmi,
            ...(settings && { settings }),
            host: {
              ...acceleration,
              nowMs: Date.now(),
              isClosed: env[GUEST_WAY_OUT_VARIABLE] === 'none',
              ...((memory || env[LAUNCHER_VARIABLES.incoming]) && { isIncoming: true }),
              searchDomains: searchDomains(vmi, env),
            },
            files: { images, boot },
          });
          linkCloudInit(vmi, { images, folder: join(dirname(diskFolder), EPHEMERAL_DISKS_FOLDER) });
          const machine = tellMachine(args);
          tellContents(vmi.spec, images);
          tellBehind(images);
          memory?.open({ machine, program, accelerator: acceleration.accel });
          return args;
        };
      },
    });
  } catch (error) {
    shared?.end();
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
