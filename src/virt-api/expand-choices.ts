/** A VM with its instance type and preference written out, for whoever has to judge or show it. */
import { CHOICE_NAMES } from '../api/kubevirt/instancetype/choices-table.ts';
import { type Expansion, expandVm } from '../api/kubevirt/instancetype/expand-vm.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { invalidCause } from '../base/causes.ts';
import type { StatusCause } from '../base/errors.ts';
import type { Client } from '../client/client.ts';
import { findChosen } from '../client/find-chosen.ts';
import { inferChoice } from './admission/infer-choice.ts';

/** The same VM when it names neither. */
export async function expandChoices(client: Pick<Client, 'get'>, vm: VirtualMachine): Promise<Expansion> {
  if (CHOICE_NAMES.every((choice) => vm.spec[choice] === undefined)) return { vm };
  const causes = await inferenceCauses(client, vm);
  return causes.length > 0 ? { causes } : expandVm(vm, await findChosen(client, vm));
}

/** What could be inferred was when the VM was completed: what is left has a reason. */
async function inferenceCauses(client: Pick<Client, 'get'>, vm: VirtualMachine): Promise<StatusCause[]> {
  const left = CHOICE_NAMES.filter((choice) => vm.spec[choice]?.inferFromVolume);
  const causes = await Promise.all(
    left.map(async (choice) => {
      const inferred = await inferChoice(client, vm, choice);
      const field = `spec.${choice}.inferFromVolume`;
      return 'why' in inferred ? [invalidCause(field, vm.spec[choice]?.inferFromVolume, inferred.why)] : [];
    }),
  );
  return causes.flat();
}
