/** What to say to a word that is no command: what other tools call it, or a command that is spelled almost like it. */

/** Words of other tools, and what does the same here. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  apply: 'kubectl apply -f FILE',
  edit: 'kubectl edit vm NAME',
  get: 'virtctl ls, or kubectl get vms',
  help: 'virtctl --help, or virtctl COMMAND --help',
  kill: 'virtctl stop NAME --force --grace-period 0',
  login: 'virtctl shell NAME, or virtctl console NAME',
};

/** What they do cannot be undone, or ends something: nobody is led to one of them by a word that was not it. */
const HARMFUL: readonly string[] = [
  'delete',
  'down',
  'install',
  'removevolume',
  'reset',
  'restart',
  'restore',
  'rollback',
  'soft-reboot',
  'stop',
  'suspend',
  'uninstall',
  'upgrade',
];

/** The whole answer; `names` are the commands that could have been meant. */
export function unknownCommand(said: string, names: readonly string[]): string {
  const elsewhere = Object.hasOwn(ELSEWHERE, said) ? ELSEWHERE[said] : undefined;
  const near = names.filter((name) => isNear(said, name));
  const fix = elsewhere ?? (near.length > 0 ? `did you mean ${near.join(' or ')}?` : 'virtctl --help lists all commands');
  return `error[USAGE]: unknown command ${said}\nfix: ${fix}`;
}

/** One or two wrong letters, and no more; a command that harms is named by whoever means it. */
function isNear(said: string, name: string): boolean {
  if (HARMFUL.includes(name)) return false;
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
