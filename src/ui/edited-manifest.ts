/** A manifest as text that people and the form change by turns: comments, order and unknown fields stay. Pure. */
import { parseDocument } from 'yaml';
import type { VirtualMachine } from '../api/kubevirt/kinds/virtual-machine.ts';
import { isObject } from '../base/json.ts';
import { deriveChoices, deriveEdits, type NewVm } from './derive-new-vm.ts';

export type ReadManifest = { readonly vm: Partial<VirtualMachine>; readonly choices: NewVm } | { readonly why: string };

/** More than a machine can be: nobody types that, and reading it with every key takes time. */
const MOST_CHARACTERS = 200_000;

export function readManifest(text: string): ReadManifest {
  if (text.length > MOST_CHARACTERS) return { why: 'it is too long' };
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) return { why: error.message.split('\n')[0] ?? '' };
  try {
    const vm: unknown = document.toJS({ maxAliasCount: 20 });
    if (!isObject(vm)) return { why: 'it has to be one object' };
    return { vm: vm as Partial<VirtualMachine>, choices: deriveChoices(vm as Partial<VirtualMachine>) };
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
  if ('why' in read) return text;
  const document = parseDocument(text);
  for (const { at, value } of deriveEdits(read.vm, changed)) {
    if (value === undefined) document.deleteIn(at);
    else document.setIn(at, typeof value === 'object' ? document.createNode(value) : value);
  }
  return String(document);
}
