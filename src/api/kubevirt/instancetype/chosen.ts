/** What a VM is made with beside its template, and the copies that are kept of it: a ControllerRevision for each VM, so that edits do not reach it. Pure. */

import { isObject } from '../../../base/json.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import { uuid5 } from '../../../base/uuid5.ts';
import { CONTROLLER_REVISIONS, type ControllerRevision } from '../../core/controller-revision.ts';
import { controllerReferenceTo, type KubeObject } from '../../meta.ts';
import { apiVersionOf } from '../../resource.ts';
import type { VirtualMachine } from '../kinds/virtual-machine.ts';
import { LABEL_VM_REVISION } from '../names.ts';
import { CHOICE_NAMES, CHOICES, type ChoiceName, type Instancetype, kindMeant, type Matcher, type Preference } from './choices-table.ts';

/** What was found of one choice: the object itself or a kept copy of it, or a sentence that says what is missing. */
export type Found<Kind> = { readonly object: Kind; readonly revisionName?: string } | { readonly missing: string };
export type Chosen = { readonly instancetype?: Found<Instancetype>; readonly preference?: Found<Preference> };

const LABELS = 'instancetype.kubevirt.io/object-';
const LONGEST_NAME = 253;
const LONGEST_LABEL = 63;
/** The namespace of names that would be too long. */
const LONG_NAMES = '0b1a1b62-3f7f-4d0b-8f6e-6b8f7a2c9d14';

/** True for a copy of an instance type or preference; other revisions of a VM tell its starts. */
export function isCopy({ metadata }: ControllerRevision): boolean {
  return metadata.labels?.[`${LABELS}kind`] !== undefined;
}

/** The copy that the VM is made with: the one that its author named, or the one that was made when the choice was first seen. */
export function revisionNameOf(vm: VirtualMachine, choice: ChoiceName): string | undefined {
  const matcher = vm.spec[choice];
  if (!matcher) return undefined;
  if (matcher.revisionName) return matcher.revisionName;
  const ref = vm.status?.[CHOICES[choice].ref];
  const isSame = ref?.name === matcher.name && ref?.kind === kindMeant(choice, matcher.kind)?.kind;
  return isSame ? ref?.controllerRevisionRef?.name || undefined : undefined;
}

/** The copy that is kept for the VM. Its name follows from both, so there is never a second. */
function copyFor(vm: VirtualMachine, object: KubeObject & { readonly spec: unknown }): ControllerRevision {
  const { apiVersion, kind, metadata, spec } = object;
  const { name, namespace, uid = '', generation = 1 } = metadata;
  const version = apiVersion.split('/')[1] ?? '';
  const told = { kind, name, uid, generation: String(generation), version };
  const labels = Object.entries(told)
    .filter(([, value]) => value.length <= LONGEST_LABEL)
    .map(([key, value]) => [`${LABELS}${key}`, value]);
  return {
    apiVersion: apiVersionOf(CONTROLLER_REVISIONS),
    kind: 'ControllerRevision',
    metadata: {
      name: shortened([vm.metadata.name, name, version, uid, generation].join('-')),
      namespace: vm.metadata.namespace,
      labels: { [LABEL_VM_REVISION]: '', ...Object.fromEntries(labels) },
      ownerReferences: [controllerReferenceTo(vm)],
    },
    revision: 0,
    data: { apiVersion, kind, metadata: { name, ...(namespace && { namespace }), uid, generation }, spec },
  };
}

/** What a copy holds. Whoever may write revisions may have written anything into it, so its parts are looked at. */
export function readCopy(choice: ChoiceName, name: string, revision: ControllerRevision | undefined): Found<KubeObject> {
  if (!revision) return { missing: `controllerrevisions.apps "${name}" not found` };
  const { data } = revision;
  const kinds = CHOICES[choice].kinds.map(({ kind }) => kind);
  const isOne = isObject(data) && kinds.includes(String(data['kind'])) && isObject(data['metadata']) && isObject(data['spec']);
  if (!isOne || (choice === 'instancetype' && !isSize(data['spec'])))
    return { missing: `ControllerRevision ${name} does not hold ${choice === 'instancetype' ? 'an instance type' : 'a preference'}` };
  return { object: data as unknown as KubeObject, revisionName: name };
}

function isSize(spec: unknown): boolean {
  const { cpu, memory } = isObject(spec) ? spec : {};
  const [cpus, guest] = [isObject(cpu) ? cpu['guest'] : undefined, isObject(memory) ? memory['guest'] : undefined];
  const isAmount = (typeof guest === 'string' || typeof guest === 'number') && parseQuantity(guest) !== undefined;
  return Number.isInteger(cpus) && Number(cpus) > 0 && isAmount;
}

/** What is to be changed in the status, so that it tells what the VM is made with; `null` where a choice is no longer made. */
export function refChanges(vm: VirtualMachine, chosen: Chosen): Readonly<Record<string, object | null>> {
  const changes: Record<string, object | null> = {};
  for (const choice of CHOICE_NAMES) {
    const { ref } = CHOICES[choice];
    const before = vm.status?.[ref];
    const matcher = vm.spec[choice];
    const name = keptNameOf(vm, choice, chosen);
    const isTold = before?.controllerRevisionRef?.name === name && revisionNameOf(vm, choice) === name;
    if (!matcher && before) changes[ref] = null;
    if (matcher && name !== undefined && !isTold) changes[ref] = refTo(choice, matcher, name);
  }
  return changes;
}

/** The copies that are still to be made. */
export function missingCopies(vm: VirtualMachine, chosen: Chosen, copies: readonly ControllerRevision[]): ControllerRevision[] {
  return CHOICE_NAMES.flatMap((choice) => {
    const found = chosen[choice];
    if (!found || 'missing' in found || found.revisionName !== undefined) return [];
    const copy = copyFor(vm, found.object);
    return copies.some(({ metadata }) => metadata.name === copy.metadata.name) ? [] : [copy];
  });
}

function keptNameOf(vm: VirtualMachine, choice: ChoiceName, chosen: Chosen): string | undefined {
  const found = chosen[choice];
  if (!found || 'missing' in found) return undefined;
  return found.revisionName ?? copyFor(vm, found.object).metadata.name;
}

function refTo(choice: ChoiceName, { name, kind }: Matcher, revision: string) {
  return { name, kind: kindMeant(choice, kind)?.kind, controllerRevisionRef: { name: revision } };
}

function shortened(name: string): string {
  return name.length <= LONGEST_NAME ? name : `copy-${uuid5(LONG_NAMES, name)}`;
}
