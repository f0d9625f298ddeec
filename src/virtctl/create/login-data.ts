/** What cloud-init is told of who logs in to a machine that virtctl makes. Its name it has from the meta data. Values are JSON strings, which YAML reads as they are. */
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
