/** A manifest as text that people and the form change by turns: comments, order and unknown fields stay. Pure. */
import { type Document, parseAllDocuments, stringify } from 'yaml';
import type { PersistentVolumeClaim } from '../api/core/volume.ts';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isObject } from '../base/json.ts';
import { deriveChoices, deriveEdits, type NewObjects, type NewVm, type TypedObjects } from './derive-new-vm.ts';

export type ReadManifest = (TypedObjects & { readonly choices: NewVm }) | { readonly why: string };

/** More than a machine can be: nobody types that, and reading it with every key takes time. */
const MOST_CHARACTERS = 200_000;
const SEPARATOR = '---\n';

/** The machine, and behind it the claim of its disk. */
export function manifestOf({ vm, claim }: NewObjects): string {
  return claim ? `${stringify(vm)}${SEPARATOR}${stringify(claim)}` : stringify(vm);
}

export function readManifest(text: string): ReadManifest {
  const found = documentsIn(text);
  if ('why' in found) return found;
  try {
    const [vm, claim] = [found.vm, found.claim].map((each): unknown => each?.toJS({ maxAliasCount: 20 }));
    if (!isObject(vm)) return { why: 'it has to be one object' };
    const typed = { vm: vm as Partial<VirtualMachine>, ...(isObject(claim) && { claim: claim as Partial<PersistentVolumeClaim> }) };
    return { ...typed, choices: deriveChoices(typed) };
  } catch {
    return { why: 'a part of it is of another form than a VirtualMachine has there' };
  }
}

/** The text with changes of the form in it, one after the other; the same text where it cannot be read. */
export function withChoices(text: string, changed: Partial<NewVm>): string {
  return Object.entries(changed).reduce((before, [choice, value]) => withEdits(before, { [choice]: value }), text);
}

function withEdits(text: string, changed: Partial<NewVm>): string {
  const read = readManifest(text);
  const found = documentsIn(text);
  if ('why' in read || 'why' in found) return text;
  let { claim } = found;
  let added = '';
  for (const { of, at, value } of deriveEdits(read, changed)) {
    const document = of === 'claim' ? claim : found.vm;
    if (at.length === 0) {
      claim = undefined;
      added = value === undefined ? '' : stringify(value);
    } else if (value === undefined) document?.deleteIn(at);
    else document?.setIn(at, typeof value === 'object' ? document.createNode(value) : value);
  }
  const parts = found.all.filter((each) => each === found.vm || each === claim).map((each) => String(each).replace(/^---\n/, ''));
  return [...parts, ...(added === '' ? [] : [added])].join(SEPARATOR);
}

type Found = { readonly vm: Document; readonly claim: Document | undefined; readonly all: readonly Document[] };

/** One that says what it is not can only be the machine: somebody has not typed it yet. */
function documentsIn(text: string): Found | { readonly why: string } {
  if (text.length > MOST_CHARACTERS) return { why: 'it is too long' };
  const all: readonly Document[] = [...parseAllDocuments(text)].filter(({ contents, errors }) => contents !== null || errors.length > 0);
  const error = all.flatMap(({ errors }) => errors)[0];
  if (error) return { why: error.message.split('\n')[0] ?? '' };
  const claims = all.filter((each) => each.get?.('kind') === 'PersistentVolumeClaim');
  const [vm, ...others] = all.filter((each) => !claims.includes(each));
  if (!vm) return { why: 'there is no machine in it' };
  if (others.length > 0 || claims.length > 1)
    return { why: 'it has to be one machine, with one PVC that becomes a part of it at the most' };
  return { vm, claim: claims[0], all };
}
