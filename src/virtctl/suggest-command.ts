/** What to say to a word that is no command, or no flag: what other tools call it, or a command or a flag that is spelled almost like it. */

import { HELP_SAYS } from './wrong-arguments.ts';

/** Words of other tools, and what does the same here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  apply: 'kubectl apply -f FILE',
  disks: 'virtctl describe NAME, or kubectl get pvc',
  edit: 'kubectl edit vm NAME',
  get: 'virtctl ls, or kubectl get vms',
  help: 'virtctl --help, or virtctl COMMAND --help',
  kill: 'virtctl stop NAME --force --grace-period 0',
  login: 'virtctl shell NAME, or virtctl console NAME',
  mount: 'virtctl run IMAGE --mount FOLDER:/WHERE, or virtctl scp',
  networks: 'virtctl describe NAME, virtctl dns, or kubectl get services',
  set: 'virtctl resize NAME SIZE for its disk, kubectl edit vm NAME for everything else',
  transfer: 'virtctl scp FILE NAME:PATH',
  vm: 'virtctl ls lists machines; commands take their names, as in virtctl start NAME',
  vms: 'virtctl ls',
};

/** Flags that end or remove something, or skip a question: whoever means them writes them out. */
const HARMFUL_FLAGS: ReadonlySet<string> = new Set([
  'adopt',
  'cache',
  'delete-vme',
  'discard',
  'ephemeral',
  'force',
  'grace-period',
  'no-boot',
  'purge',
  'rm',
  'salvage',
  'without-controllers',
  'yes',
]);

/** `names` are the commands that could have been meant; those that harm are named by whoever means them. */
export type Candidates = {
  /** The group in which it was looked for. */
  readonly group?: string | undefined;
  readonly names: readonly string[];
  readonly harmful: ReadonlySet<string>;
};

/** The whole answer. */
export function unknownCommand(said: string, { group, names, harmful }: Candidates): string {
  const elsewhere = group === undefined && Object.hasOwn(ELSEWHERE, said) ? ELSEWHERE[said] : undefined;
  const near = names.filter((name) => !harmful.has(name) && isNear(said, name));
  const inGroup = group === undefined ? '' : `${group} `;
  const fix = elsewhere ?? (near.length > 0 ? `did you mean ${near.join(' or ')}?` : `virtctl ${inGroup}--help lists all commands`);
  return `error[USAGE]: unknown command ${inGroup}${said}\nfix: ${fix}`;
}

/** The whole answer; `corrections` are the flags of the command that are spelled almost like it. */
export function unknownFlag(said: string, corrections: readonly string[]): string {
  const near = corrections.map(kebabCase).filter((name) => !HARMFUL_FLAGS.has(name));
  const fix = near.length > 0 ? `did you mean ${near.map((name) => `--${name}`).join(' or ')}?` : HELP_SAYS;
  return `error[USAGE]: unknown flag --${said}\nfix: ${fix}`;
}

function kebabCase(word: string): string {
  return word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** One or two wrong letters, and no more. */
function isNear(said: string, name: string): boolean {
  return distance(said, name) <= (Math.min(said.length, name.length) <= 4 ? 1 : 2);
}

/** Letters to insert, to take away, to replace or to swap with their neighbour. */
function distance(from: string, to: string): number {
  const row = (length: number, first: number) => Array.from({ length }, (_, index) => (index === 0 ? first : 0));
  const rows = [Array.from({ length: to.length + 1 }, (_, index) => index)];
  for (let i = 1; i <= from.length; i += 1) {
    const current = row(to.length + 1, i);
    const at = (r: number, c: number) => rows[r]?.[c] ?? 0;
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1];
      const isSwapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      current[j] = Math.min(
        at(i - 1, j) + 1,
        (current[j - 1] ?? 0) + 1,
        at(i - 1, j - 1) + (isSame ? 0 : 1),
        isSwapped ? at(i - 2, j - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
    rows.push(current);
  }
  return rows[from.length]?.[to.length] ?? 0;
}
