/** Words that people bring along from other tools and that mean one of our commands: they work, and help shows the command alone. */
type Row = readonly [said: readonly string[], meant: readonly string[]];

const ALIASES: readonly Row[] = [
  [['list'], ['ls']],
  [['ps'], ['ls']],
  [['rm'], ['delete']],
  [['remove'], ['delete']],
  [['destroy'], ['delete']],
  [['info'], ['describe']],
  [['launch'], ['run']],
  [['boot'], ['start']],
  [['shutdown'], ['stop']],
  [['poweroff'], ['stop']],
  [['reboot'], ['restart']],
  [['attach'], ['console']],
  [['enter'], ['shell']],
  [['cp'], ['scp']],
  [
    ['image', 'ls'],
    ['image', 'list'],
  ],
  [
    ['image', 'rm'],
    ['image', 'remove'],
  ],
  [
    ['image', 'delete'],
    ['image', 'remove'],
  ],
  [
    ['image', 'catalog'],
    ['image', 'catalogue'],
  ],
  [['images'], ['image', 'list']],
  [['--version'], ['version']],
];
/** In front of a command, as other tools take it. */
const HELP = ['help', '--help', '-h'];

/** The command line with our word for what was said; what stands behind it is not looked at. `help run` and `--help run` are `run --help`. */
export function withoutAliases(words: readonly string[]): readonly string[] {
  const [first, ...command] = words;
  if (first !== undefined && HELP.includes(first) && command.length > 0) return [...withoutAliases(command), '--help'];
  const row = ALIASES.find(([said]) => said.every((word, index) => word === words[index]));
  return row ? [...row[1], ...words.slice(row[0].length)] : words;
}

/** All of them, for the documents. */
export function allAliases(): readonly Row[] {
  return ALIASES;
}
