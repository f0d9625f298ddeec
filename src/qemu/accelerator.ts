/**
 * How guests are run: with KVM only when it is proven to work, else with TCG. A /dev/kvm alone proves nothing: on some hosts it opens, and
 * ordinary guests hang on it, because the processor does not show vmx or svm.
 */
import { closeSync, constants, existsSync, openSync, readSync } from 'node:fs';
import { ACCELERATOR_VARIABLE } from '../api/launcher/variables.ts';
import { messageOf, UserError } from '../base/errors.ts';

export type Acceleration = { readonly accel: 'kvm' | 'tcg'; readonly why: string };

type Environment = Readonly<Record<string, string | undefined>>;
/** What there is to see of the host; passed in by tests. */
export type AcceleratorHost = { readonly kvmDevice: string; readonly cpuInfo: string };

const HOST: AcceleratorHost = { kvmDevice: '/dev/kvm', cpuInfo: '/proc/cpuinfo' };

/** What this process, as the user it is, can run guests with; KUBEVIRT_ACCEL decides when it is set. */
export function chooseAcceleration(env: Environment = process.env, host: AcceleratorHost = HOST): Acceleration {
  const asked = env[ACCELERATOR_VARIABLE];
  if (asked === 'tcg') return { accel: 'tcg', why: `${ACCELERATOR_VARIABLE}=tcg` };
  if (asked && asked !== 'kvm')
    throw new UserError('ACCEL_UNKNOWN', `${ACCELERATOR_VARIABLE}=${asked} is not known`, {
      why: 'it is kvm or tcg',
      fix: `unset ${ACCELERATOR_VARIABLE}`,
    });
  const missing = whyNoKvm(host, asked === 'kvm');
  if (missing === undefined)
    return { accel: 'kvm', why: asked ? `${ACCELERATOR_VARIABLE}=kvm` : `${host.kvmDevice} opens and the CPU has vmx or svm` };
  if (!asked) return { accel: 'tcg', why: missing };
  throw new UserError('KVM_UNAVAILABLE', 'KVM cannot be used', {
    why: missing,
    fix: `unset ${ACCELERATOR_VARIABLE} to run guests without KVM`,
  });
}

/** Whether a host shows a KVM that guests could use. Whether it opens, only who has the device can tell: see above. */
export function showsKvm({ kvmDevice, cpuInfo }: AcceleratorHost = { ...HOST, kvmDevice: '/sys/class/misc/kvm' }): boolean {
  return existsSync(kvmDevice) && hasVirtualization(cpuInfo);
}

/** Undefined when KVM can be used. Whoever forces it answers for the processor, but not for a device that does not open. */
function whyNoKvm({ kvmDevice, cpuInfo }: AcceleratorHost, isForced: boolean): string | undefined {
  if (!isForced && !hasVirtualization(cpuInfo)) return 'the CPU shows neither vmx nor svm';
  try {
    closeSync(openSync(kvmDevice, constants.O_RDWR));
    return undefined;
  } catch (error) {
    return `${kvmDevice} does not open: ${messageOf(error)}`;
  }
}

/** One processor is enough: the kernel writes this file while it is read, slowly, and there may be hundreds. */
function hasVirtualization(cpuInfo: string): boolean {
  try {
    const file = openSync(cpuInfo, 'r');
    const start = Buffer.alloc(8192);
    const length = readSync(file, start);
    closeSync(file);
    return /^flags\s*:.*\b(vmx|svm)\b/m.test(start.toString('latin1', 0, length));
  } catch {
    return false; // no /proc/cpuinfo: nothing is proven
  }
}
