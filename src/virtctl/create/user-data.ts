/** What cloud-init is told about the first user. Values are written as JSON strings, which YAML reads as they are. */
export type FirstUser = { readonly user?: string; readonly password?: string; readonly sshKeys: readonly string[] };

/** A #cloud-config document, or undefined when nothing was asked for. */
export function firstUserData({ user, password, sshKeys }: FirstUser): string | undefined {
  const lines = [
    ...(user ? [`user: ${JSON.stringify(user)}`] : []),
    ...(password ? [`password: ${JSON.stringify(password)}`, 'chpasswd: { expire: false }'] : []),
    ...(sshKeys.length > 0 ? ['ssh_authorized_keys:', ...sshKeys.map((key) => `  - ${JSON.stringify(key)}`)] : []),
  ];
  return lines.length === 0 ? undefined : `${['#cloud-config', ...lines].join('\n')}\n`;
}
