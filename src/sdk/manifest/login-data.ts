/** What cloud-init is told of who logs in to a new machine. Its name it has from the meta data. Values are JSON strings, which YAML reads as they are. Pure. */
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { ANNOTATION_LOGIN_USER } from '../../api/kubevirt/names.ts';

/** Of a disk of which nobody says who its user is. */
export const UNKNOWN_USER = 'virt';

type Login = { readonly user: string; readonly publicKey: string; readonly mounts?: readonly GuestMount[] };
/** What the guest mounts by which name; nothing in it needs quotes. */
export type GuestMount = { readonly tag: string; readonly place: string; readonly isReadOnly: boolean };

/** A #cloud-config document. The user of the image gets the name, so it keeps its shell and its groups; root is there already, and is only let in. */
export function loginData({ user, publicKey, mounts = [] }: Login): string {
  const who = user === 'root' ? ['disable_root: false'] : ['user:', `  name: ${JSON.stringify(user)}`, '  sudo: "ALL=(ALL) NOPASSWD:ALL"'];
  const commands = mounts.length > 0 ? ['runcmd:', ...mounts.map((mount) => `  - ${mountCommand(mount)}`)] : [];
  return `${['#cloud-config', ...who, 'ssh_authorized_keys:', `  - ${JSON.stringify(publicKey)}`, ...commands].join('\n')}\n`;
}

/** By fstab, which is there at the next start, too; what cloud-init calls mounts takes nothing but devices and addresses. */
function mountCommand({ tag, place, isReadOnly }: GuestMount): string {
  return `mkdir -p ${place} && echo '${tag} ${place} virtiofs ${isReadOnly ? 'ro' : 'rw'},nofail 0 0' >> /etc/fstab && mount ${place}`;
}

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"`;
const OURS = new RegExp(
  `^#cloud-config\n(?:user:\n  name: (${STRING})\n.*\n|disable_root: false\n)ssh_authorized_keys:\n  - (${STRING})\n$`,
);

/** Who logs in, of a document as it is made here; undefined of any other. */
export function loginIn(userData: string): { readonly user: string; readonly publicKey: string } | undefined {
  const [, name, key] = OURS.exec(userData) ?? [];
  if (key === undefined) return undefined;
  const found = { user: name === undefined ? 'root' : String(JSON.parse(name)), publicKey: String(JSON.parse(key)) };
  return loginData(found) === userData ? found : undefined;
}

/** On the machine for who looks at it, and on its instances, which are asked first. */
export function withLoginUser(vm: VirtualMachine, user: string): VirtualMachine {
  const annotations = { [ANNOTATION_LOGIN_USER]: user };
  const { template } = vm.spec;
  return {
    ...vm,
    metadata: { ...vm.metadata, annotations },
    spec: { ...vm.spec, template: { ...template, metadata: { ...template.metadata, annotations } } },
  };
}
