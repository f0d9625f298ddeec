/** Which machine the words of a command name. */
import { UserError } from '../base/errors.ts';

/** A kind that can be told to start, stop or restart; `vmi` is the running guest itself. */
export type VmKind = 'vm' | 'ovm' | 'vmic' | 'vmi';
export type VmTarget = { readonly kind?: VmKind; readonly name: string; readonly note?: string };

/** The words people put between verb and name, as with kubectl. */
const KIND_WORDS: Readonly<Record<VmKind, readonly string[]>> = {
  vm: ['vm', 'vms', 'virtualmachine', 'virtualmachines'],
  vmi: ['vmi', 'vmis', 'virtualmachineinstance', 'virtualmachineinstances'],
  // `omv` is how a published example spells it
  ovm: ['ovm', 'ovms', 'offlinevirtualmachine', 'offlinevirtualmachines', 'omv'],
  vmic: ['vmic', 'vmics', 'virtualmachineinstanceconfig', 'virtualmachineinstanceconfigs'],
};

/** `NAME`, `vm NAME` or `vm/NAME`. */
export function vmName(verb: string, words: readonly string[]): string {
  return vmTarget(verb, words).name;
}

/** Several of them: `a b`, `vm a b`, `vm/a vmi/b`. */
export function vmTargets(verb: string, words: readonly string[]): readonly VmTarget[] {
  const [first = '', ...rest] = words;
  const isKind = rest.length > 0 && !first.includes('/') && kindOf(first) !== undefined;
  return isKind ? rest.map((name) => vmTarget(verb, [first, name])) : words.map((word) => vmTarget(verb, [word]));
}

/** The same, and which kind was meant, if that was said. */
export function vmTarget(verb: string, words: readonly string[]): VmTarget {
  const parts = words.flatMap((word) => word.split('/'));
  const [first = '', second] = parts;
  if (parts.length === 1 && first) return { name: first };
  const word = first.toLowerCase();
  const kind = kindOf(first);
  if (parts.length === 2 && second && kind) return { kind, name: second, ...(word === 'omv' && { note: 'omv is taken as ovm' }) };
  throw new UserError('USAGE', `virtctl ${verb} takes one machine, got: ${words.join(' ')}`, {
    why: parts.length === 2 ? `${first} is not a kind (vm, vmi), and only one name is taken at a time` : 'more than one name was given',
    fix: parts.map((name) => `virtctl ${verb} ${name}`).join('; '),
    exitCode: 2,
  });
}

function kindOf(word: string): VmKind | undefined {
  return (Object.keys(KIND_WORDS) as VmKind[]).find((each) => KIND_WORDS[each].includes(word.toLowerCase())); // keys of a Record
}
