/** Pure files are known by what they reach when they run, through any number of imports: no module that acts, no clock, no chance, no process. */
import { codeUses } from './code-uses.ts';
import type { Import, SourceFile } from './source-file.ts';
import { NEVER_PURE, PURE_FILE, PURE_IMPORTS } from './tables.ts';

type Tree = ReadonlyMap<string, SourceFile>;

const ACTS = [
  'async',
  'await',
  'console',
  'crypto',
  'fetch',
  'globalThis',
  'import\\.meta',
  'navigator',
  'performance',
  'process',
  'require',
];
const TIME = [
  'Date\\.now',
  'new Date\\(\\)',
  'new Date(?!\\s*\\()',
  'Date\\(\\)',
  'queueMicrotask',
  'setImmediate',
  'setInterval',
  'setTimeout',
];
const CHANCE = ['Math\\.random'];
const STREAMS = ['EventSource', 'WebSocket', 'Worker', 'XMLHttpRequest'];
const IMPURE = [...ACTS, ...TIME, ...CHANCE, ...STREAMS];

/** A complaint for each pure file and each impure one that it reaches, with the way there. */
export function impurities(tree: Tree, folderOf: (path: string) => string): string[] {
  const reasons = new Map([...tree.values()].map((file) => [file.path, impurityOf(file, folderOf(file.path))]));
  return [...tree.values()]
    .filter(({ path, isTest }) => PURE_FILE.test(path) && !isTest)
    .flatMap(({ path }) =>
      waysFrom(path, tree).flatMap((way) => {
        const reason = reasons.get(way.at(-1) ?? '');
        return reason ? [`src/${path}: is pure, but ${way.length > 1 ? `reaches ${way.slice(1).join(' -> ')}, which ` : ''}${reason}`] : [];
      }),
    );
}

/** Why a file is impure by itself. */
function impurityOf({ path, code, imports }: SourceFile, folder: string): string | undefined {
  if (NEVER_PURE.includes(folder) && !PURE_FILE.test(path)) return `is in ${folder}`;
  const used = codeUses(code, IMPURE)[0];
  if (used) return `uses ${used}`;
  const acting = imports.find((each) => !each.isOwn && !each.isTypeOnly && !isPureImport(each));
  return acting && `imports ${acting.target}`;
}

function isPureImport({ target, names }: Import): boolean {
  const pure = PURE_IMPORTS[target];
  return pure === 'all' || (pure !== undefined && names.length > 0 && names.every((name) => pure.includes(name)));
}

/** The shortest way to everything that is loaded with a file, itself first. */
function waysFrom(start: string, tree: Tree): string[][] {
  const ways = new Map([[start, [start]]]);
  for (const [path, way] of ways)
    for (const { target, isOwn, isTypeOnly } of tree.get(path)?.imports ?? [])
      if (isOwn && !isTypeOnly && !ways.has(target)) ways.set(target, [...way, target]);
  return [...ways.values()];
}
