/** The objects of a machine as text, for who wants to keep or change them. */

import type { Wanted } from '../../../sdk/make-machine.ts';
import type { Deps } from '../../deps.ts';

export async function printManifest({ stdout }: Pick<Deps, 'stdout'>, { vm, claim }: Wanted, format: 'yaml' | 'json'): Promise<void> {
  if (format === 'json') {
    const whole = claim ? { apiVersion: 'v1', kind: 'List', items: [claim, vm] } : vm;
    stdout.write(`${JSON.stringify(whole, null, 2)}\n`);
    return;
  }
  const { stringify } = await import('yaml');
  const text = (object: object) => stringify(object, { lineWidth: 0, aliasDuplicateObjects: false });
  const note = '# Made from this file, the disk stays when the machine is deleted; virtctl run makes it part of the machine.\n';
  stdout.write(claim ? `${note}${text(claim)}---\n${text(vm)}` : text(vm));
}
