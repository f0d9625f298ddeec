/** The instance type and preference of a new machine, from flags: named, or found by a volume. Pure. */
import { type ChoiceName, kindMeant, type Matcher } from '../../api/kubevirt/instancetype/choices-table.ts';
import { UserError } from '../../base/errors.ts';

export type ChoiceFlags = {
  readonly instancetype?: string;
  readonly inferInstancetype?: boolean;
  readonly inferInstancetypeFrom?: string;
  readonly preference?: string;
  readonly inferPreference?: boolean;
  readonly inferPreferenceFrom?: string;
};

const FLAGS = {
  instancetype: { infer: 'inferInstancetype', from: 'inferInstancetypeFrom' },
  preference: { infer: 'inferPreference', from: 'inferPreferenceFrom' },
} as const;

/**
 * What stands in the manifest. Without a word it is inferred from the first claim, and it is no failure when that says nothing; who asks for it
 * wants to know.
 */
export function parseChoice(choice: ChoiceName, flags: ChoiceFlags, claims: readonly string[]): Matcher | undefined {
  const { infer, from } = FLAGS[choice];
  const [named, isAsked, volume] = [flags[choice], flags[infer], flags[from]];
  if (named && (isAsked || volume))
    throw new UserError('USAGE', `--${choice} cannot be combined with --infer-${choice}${volume ? '-from' : ''}`, {
      why: 'it is named, or found by a volume',
      exitCode: 2,
    });
  if (named) return parseNamed(choice, named);
  if (volume) return { inferFromVolume: volume };
  const [first] = claims;
  if (isAsked && !first)
    throw new UserError('USAGE', `--infer-${choice} needs a disk that says it`, { fix: 'add --volume-pvc PVC', exitCode: 2 });
  if (!first || isAsked === false) return undefined;
  return { inferFromVolume: first, ...(isAsked ? {} : { inferFromVolumeFailurePolicy: 'Ignore' as const }) };
}

/** `NAME`, or `KIND/NAME`. */
function parseNamed(choice: ChoiceName, said: string): Matcher {
  const [first = '', second, ...more] = said.split('/');
  const kind = second === undefined ? undefined : kindMeant(choice, first)?.kind;
  const name = second ?? first;
  if (more.length > 0 || !name || (second !== undefined && (!first || !kind)))
    throw new UserError('USAGE', `--${choice} ${said} is not understood`, {
      fix: `say NAME, or virtualmachine${choice}/NAME, or virtualmachinecluster${choice}/NAME`,
      exitCode: 2,
    });
  return { name, ...(kind && { kind }) };
}
