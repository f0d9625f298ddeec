/**
 * What becomes of the choices of a VM on its way into the store:
 *
 *   kind not given       that of the cluster
 *   inferFromVolume      the name and kind that the labels of the claim say. Where they say nothing and that is to be ignored, the choice
 *                        is taken out; otherwise it stays, and validation says why it is refused.
 *
 * An instance type that was found with the policy Ignore takes the place of the memory in the template, which was there in case none is found.
 */
import { CHOICE_NAMES, type ChoiceName, kindMeant, type Matcher } from '../../api/kubevirt/instancetype/choices-table.ts';
import type { VirtualMachine } from '../../api/kubevirt/kinds/virtual-machine.ts';
import type { JsonObject } from '../../base/json.ts';
import type { Client } from '../../client/client.ts';
import type { PatchOperation } from './decide-mutation.ts';
import { inferChoice } from './infer-choice.ts';
import { isVmShaped } from './vm-shape.ts';

/** The JSON Patch that does it; empty for a VM without choices, for which nothing is asked. */
export async function mutateVm(object: JsonObject, client: Pick<Client, 'get'>): Promise<PatchOperation[]> {
  if (!isVmShaped(object)) return []; // for the schema to refuse
  const patches = await Promise.all(
    CHOICE_NAMES.filter((choice) => object.spec[choice]).map((choice) => completed(object, choice, client)),
  );
  return patches.flat();
}

async function completed(vm: VirtualMachine, choice: ChoiceName, client: Pick<Client, 'get'>): Promise<PatchOperation[]> {
  const matcher = vm.spec[choice] ?? {};
  const path = `/spec/${choice}`;
  if (!matcher.inferFromVolume) return matcher.kind ? [] : withKind(path, choice, matcher);
  const isIgnoring = matcher.inferFromVolumeFailurePolicy === 'Ignore';
  const inferred = await inferChoice(client, vm, choice);
  if ('why' in inferred) return inferred.isIgnorable && isIgnoring ? [{ op: 'remove', path }] : [];
  const isSpare = choice === 'instancetype' && isIgnoring && vm.spec.template.spec.domain.memory?.guest !== undefined;
  const spare: PatchOperation[] = isSpare ? [{ op: 'remove', path: '/spec/template/spec/domain/memory/guest' }] : [];
  return [{ op: 'replace', path, value: inferred.matcher }, ...spare];
}

function withKind(path: string, choice: ChoiceName, matcher: Matcher): PatchOperation[] {
  return matcher.name ? [{ op: 'add', path: `${path}/kind`, value: kindMeant(choice, undefined)?.kind }] : [];
}
