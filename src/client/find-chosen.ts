/** Finds the instance type and the preference of a VM: the copies that it is made with, or the objects themselves where there are none yet. */
import { CONTROLLER_REVISIONS } from '../api/core/controller-revision.ts';
import { CHOICE_NAMES, CHOICES, type ChoiceName, kindMeant } from '../api/kubevirt/instancetype/choices-table.ts';
import { type Chosen, type Found, readCopy, revisionNameOf } from '../api/kubevirt/instancetype/chosen.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import type { KubeObject } from '../api/meta.ts';
import type { Client } from './client.ts';

/** What was found of each; nothing is asked for a VM that names none. */
export async function findChosen(reader: Pick<Client, 'get'>, vm: VirtualMachine): Promise<Chosen> {
  const named = CHOICE_NAMES.filter((choice) => vm.spec[choice] !== undefined);
  const found = await Promise.all(named.map(async (choice) => [choice, await find(reader, vm, choice)] as const));
  return Object.fromEntries(found);
}

async function find(reader: Pick<Client, 'get'>, vm: VirtualMachine, choice: ChoiceName): Promise<Found<KubeObject>> {
  const { namespace } = vm.metadata;
  const { name = '', kind } = vm.spec[choice] ?? {};
  const kept = revisionNameOf(vm, choice);
  if (kept) return readCopy(choice, kept, await reader.get(CONTROLLER_REVISIONS, { namespace, name: kept }));
  const resource = kindMeant(choice, kind);
  if (!resource) return { missing: `got unexpected kind in ${choice}Matcher: ${kind}; there are ${kindsOf(choice)}` };
  if (!name) return { missing: `spec.${choice}.name is empty` };
  const object = await reader.get(resource, resource.isNamespaced ? { namespace, name } : { name });
  return object ? { object } : { missing: `${resource.plural}.${resource.group} "${name}" not found` };
}

function kindsOf(choice: ChoiceName): string {
  return CHOICES[choice].kinds.map((each) => each.kind).join(' and ');
}
