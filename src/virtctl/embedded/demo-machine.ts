/** The machine of `virtctl up --demo`: that of the examples, with the key of this data folder, so that it is entered like any that `virtctl run` makes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import { loginData, withLoginUser } from '../../sdk/manifest/login-data.ts';
import type { Deps } from '../deps.ts';
import { ensureSshKey } from '../ssh/ssh-key.ts';

const USER = 'root';

export async function demoMachine({ examples, home }: Pick<Deps, 'examples' | 'home'>): Promise<VirtualMachine> {
  const vm = parse(readFileSync(join(examples, 'vm.yaml'), 'utf8')) as VirtualMachine;
  const { publicKey } = await ensureSshKey(home);
  const { template } = vm.spec;
  const volumes = (template.spec.volumes ?? []).map((volume) =>
    volume.cloudInitNoCloud ? { ...volume, cloudInitNoCloud: { userData: loginData({ user: USER, publicKey }) } } : volume,
  );
  const own = { ...vm, metadata: { ...vm.metadata, namespace: 'default' } };
  return withLoginUser({ ...own, spec: { ...vm.spec, template: { ...template, spec: { ...template.spec, volumes } } } }, USER);
}
