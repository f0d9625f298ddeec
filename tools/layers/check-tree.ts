/** What in a tree of sources breaks the tables of the architecture. */
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { codeUses } from './code-uses.ts';
import { impurities } from './purity.ts';
import { type Import, readSourceFile, type SourceFile } from './source-file.ts';
import { BROWSER_SAFE, MAX_LINES, MAY_IMPORT, ONE_USER, PACKAGES } from './tables.ts';

type Tree = ReadonlyMap<string, SourceFile>;

const FOLDERS = Object.keys(MAY_IMPORT).sort((a, b) => b.length - a.length);

/** Every complaint, and how many files there were. */
export function checkTree(root: string): { readonly problems: readonly string[]; readonly files: number } {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path));
  const tree: Tree = new Map(paths.sort().map((path) => [path, readSourceFile(root, path)]));
  const problems = [
    ...[...tree.values()].flatMap((file) => problemsOf(file, root).map((what) => `src/${file.path}: ${what}`)),
    ...impurities(tree, folderOf),
    ...circles(tree).map((circle) => `src/${circle[0]}: imports go in a circle: ${circle.join(' -> ')}`),
  ];
  return { problems, files: tree.size };
}

function folderOf(path: string): string {
  return FOLDERS.find((folder) => path.startsWith(`${folder}/`)) ?? dirname(path);
}

function problemsOf(file: SourceFile, root: string): string[] {
  const { path, isTest, lines } = file;
  const folder = folderOf(path);
  const cap = isTest || /-table\.ts$/.test(path) ? 2 * MAX_LINES : MAX_LINES;
  return [
    ...(folder in MAY_IMPORT ? [] : [`${folder} is not in the layer table`]),
    ...file.imports.flatMap((each) => (each.isOwn ? problemsOfOwn(file, each, root) : isTest ? [] : problemsOfModule(each, folder))),
    ...(isTest ? [] : problemsOfUses(file)),
    ...(lines > cap && !path.includes('/generated/') ? [`${lines} lines, the cap is ${cap}`] : []),
  ];
}

function problemsOfUses({ path, code }: SourceFile): string[] {
  return Object.entries(ONE_USER).flatMap(([pattern, user]) =>
    path === user ? [] : codeUses(code, [pattern]).map((used) => `uses ${used}, which is for ${user} alone`),
  );
}

function problemsOfOwn({ path, isTest }: SourceFile, { target }: Import, root: string): string[] {
  if (target.startsWith('..')) return [`imports ${target}, which is outside src`];
  const absent = existsSync(join(root, target)) ? [] : [`imports ${target}, which is not there`];
  const [from, to] = [folderOf(path), folderOf(target)];
  const allowed = MAY_IMPORT[from] ?? [];
  const mayImport = to === from || allowed.includes(to) || allowed.includes('*') || isTest;
  return mayImport ? absent : [...absent, `${from} may not import ${to} (${target})`];
}

function problemsOfModule({ target }: Import, folder: string): string[] {
  if (target.startsWith('node:')) return BROWSER_SAFE.includes(folder) ? [`${folder} must run in a browser, found ${target}`] : [];
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
  const owners = PACKAGES[name];
  if (!owners) return [`package ${name} is not in the table`];
  return owners.includes(folder) ? [] : [`package ${name} belongs to ${owners.join(', ') || 'tests'}, not to ${folder}`];
}

/** Every circle once, found by depth-first search. */
function circles(tree: Tree): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path]);
      return;
    }
    if (done.has(path)) return;
    for (const { target, isOwn } of tree.get(path)?.imports ?? []) if (isOwn) visit(target, [...trail, path]);
    done.add(path);
  };
  for (const path of tree.keys()) visit(path, []);
  return found;
}
