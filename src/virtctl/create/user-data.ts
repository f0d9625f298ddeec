/** What cloud-init is told about the first user. Values are written as JSON strings, which YAML reads as they are. */
export type FirstUser = {
  readonly user?: string;
  readonly password?: string;
  readonly sshKeys: readonly string[];
  readonly letsAgentManageSsh?: boolean;
};

/** A #cloud-config document, or undefined when nothing was asked for. */
export function firstUserData({ user, password, sshKeys, letsAgentManageSsh }: FirstUser): string | undefined {
  const lines = [
    ...(user ? [`user: ${JSON.stringify(user)}`] : []),
    ...(password ? [`password: ${JSON.stringify(password)}`, 'chpasswd: { expire: false }'] : []),
    ...(sshKeys.length > 0 ? ['ssh_authorized_keys:', ...sshKeys.map((key) => `  - ${JSON.stringify(key)}`)] : []),
    // SELinux keeps the agent away from authorized_keys otherwise
    ...(letsAgentManageSsh ? ['runcmd:', '  - [setsebool, -P, virt_qemu_ga_manage_ssh, "on"]'] : []),
  ];
  return lines.length === 0 ? undefined : `${['#cloud-config', ...lines].join('\n')}\n`;
}
