/** What cloud-init is told of who logs in to a machine that virtctl makes. Its name it has from the meta data. Values are JSON strings, which YAML reads as they are. */
type Login = { readonly user: string; readonly publicKey: string };

/** A #cloud-config document. The user of the image gets the name, so it keeps its shell and its groups; root is there already, and is only let in. */
export function loginData({ user, publicKey }: Login): string {
  const who = user === 'root' ? ['disable_root: false'] : ['user:', `  name: ${JSON.stringify(user)}`, '  sudo: "ALL=(ALL) NOPASSWD:ALL"'];
  return `${['#cloud-config', ...who, 'ssh_authorized_keys:', `  - ${JSON.stringify(publicKey)}`].join('\n')}\n`;
}
