/**
 * Fails when the tree breaks its own rules: who may import whom, which files must be pure, how long a file may get,
 * which folder owns which npm package, and that no import goes in a circle. The tables are the architecture; a change to them needs an ADR.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const CORE = ['base', 'api'];
const LOOP = [...CORE, 'client', 'reconcile'];
const SERVER = [...LOOP, 'base/node', 'client/node'];
/** The longest matching prefix wins. A folder may always import itself. Folders of one layer meet at the API, not by import. */
const MAY_IMPORT: Record<string, readonly string[]> = {
  base: [],
  'base/node': ['base'],
  api: ['base'],
  qemu: [...CORE, 'base/node'],
  images: [...CORE, 'base/node'],
  client: CORE,
  'client/node': [...CORE, 'base/node', 'client'],
  reconcile: [...CORE, 'client'],
  'control-plane/store': [...CORE, 'base/node'],
  'control-plane/apiserver': [...CORE, 'base/node', 'control-plane/store'],
  'control-plane/scheduler': LOOP,
  'control-plane/garbage-collector': LOOP,
  'control-plane/service-accounts': LOOP,
  'control-plane/volumes': [...LOOP, 'base/node'],
  'control-plane/services': [...LOOP, 'base/node'],
  'control-plane/kubelet': [...LOOP, 'base/node', 'images'],
  'virt-api': [...SERVER, 'qemu'],
  'virt-controller': LOOP,
  'virt-handler': [...SERVER, 'qemu'],
  'virt-operator': SERVER,
  'virt-launcher': [...CORE, 'base/node', 'qemu', 'images'],
  vmctl: SERVER,
  virtctl: [...CORE, 'base/node', 'client', 'client/node', 'images', 'qemu'],
  testing: [...CORE, 'client', 'reconcile'],
  cmd: ['*'],
};
/** Folders that must also run in a browser: nothing from node. */
const BROWSER_SAFE = ['base', 'api', 'client', 'reconcile'];
/** npm packages and the folders that may use them. */
const PACKAGES: Record<string, readonly string[]> = {
  typebox: ['api'],
  yaml: ['control-plane/apiserver', 'client/node', 'virtctl', 'virt-api', 'cmd'],
  'fast-json-patch': ['control-plane/apiserver'],
  re2js: ['control-plane/apiserver'],
  ws: ['client/node', 'virt-api', 'virt-handler'],
  '@peculiar/x509': ['base/node'],
  'reflect-metadata': ['base/node'],
  'tar-stream': ['images'],
  '@stricli/core': ['virtctl', 'cmd'],
  'fast-check': [],
};
const PURE_FILE = /(^|\/)(decide[^/]*|status|validate-[^/]+|default-[^/]+)\.ts$|\/convert\/[^/]+\.ts$/;
const IMPURE = /\bDate\.now\(|new Date\(\)|Math\.random\(|\bcrypto\.|\bfetch\(|\bprocess\.|\basync\b|\bawait\b|set(Timeout|Interval)\(/g;
const IMPORT = /^(?:import|export)\b[^'"]*?\bfrom\s+'([^']+)'|^import\s+'([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm;
const MAX_LINES = 400;

const root = resolve('src');
const folders = Object.keys(MAY_IMPORT).sort((a, b) => b.length - a.length);
const problems: string[] = [];
const imports = new Map<string, string[]>();

for (const path of sourceFiles()) checkFile(path);
for (const circle of circles()) problems.push(`src/${circle[0]}: imports go in a circle: ${circle.join(' -> ')}`);
console.log(problems.join('\n') || `layers ok: ${imports.size} files`);
process.exitCode = problems.length ? 1 : 0;

function sourceFiles(): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .sort();
}

function folderOf(path: string): string {
  return folders.find((folder) => path.startsWith(`${folder}/`)) ?? dirname(path);
}

function checkFile(path: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const isTest = /\.(test|contract|testing)\.tsx?$/.test(path);
  const isPure = PURE_FILE.test(path) && !isTest;
  const folder = folderOf(path);
  const complain = (what: string) => problems.push(`src/${path}: ${what}`);
  if (!(folder in MAY_IMPORT)) complain(`${folder} is not in the layer table`);

  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  imports.set(path, []);
  for (const [statement, from, bare, dynamic] of code.matchAll(IMPORT)) {
    const target = from ?? bare ?? dynamic ?? '';
    const isTypeOnly = statement.startsWith('import type'); // it is gone before the file runs
    if (target.startsWith('.')) checkOwnImport({ path, target, folder, isTest, isPure: isPure && !isTypeOnly, complain });
    else checkPackage({ target, folder, isTest, isPure, complain });
  }
  if (isPure) for (const [found] of code.matchAll(IMPURE)) complain(`pure file uses ${found}`);
  const lines = text.split('\n').length - 1;
  const cap = isTest || /-table\.ts$/.test(path) ? 2 * MAX_LINES : MAX_LINES;
  if (lines > cap && !path.includes('/generated/')) complain(`${lines} lines, the cap is ${cap}`);
}

type Import = { target: string; folder: string; isTest: boolean; isPure: boolean; complain: (what: string) => void };

function checkOwnImport({ path, target, folder, isTest, isPure, complain }: Import & { path: string }): void {
  const imported = relative(root, resolve(dirname(join(root, path)), target));
  if (imported.startsWith('..')) {
    complain(`imports ${target}, which is outside src`);
    return;
  }
  if (!existsSync(join(root, imported))) complain(`imports ${target}, which is not there`);
  imports.get(path)?.push(imported);
  const to = folderOf(imported);
  const allowed = MAY_IMPORT[folder] ?? [];
  if (isTest && to === 'testing') return;
  if (!(to === folder || allowed.includes(to) || allowed.includes('*') || isTest)) complain(`${folder} may not import ${to} (${target})`);
  const isPureTarget =
    to === 'api' ||
    to === 'base' ||
    imported === 'reconcile/decision.ts' ||
    PURE_FILE.test(imported) ||
    dirname(imported) === dirname(path);
  if (isPure && !isPureTarget) complain(`pure file may not import ${imported}`);
}

function checkPackage({ target, folder, isTest, isPure, complain }: Import): void {
  if (isPure) complain(`pure file imports ${target}`);
  if (isTest) return;
  if (target.startsWith('node:')) {
    if (BROWSER_SAFE.includes(folder)) complain(`${folder} must run in a browser, found ${target}`);
    return;
  }
  const name = target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
  const owners = PACKAGES[name];
  if (!owners) complain(`package ${name} is not in the table`);
  else if (!owners.includes(folder)) complain(`package ${name} belongs to ${owners.join(', ') || 'tests'}, not to ${folder}`);
}

/** Every circle once, found by depth-first search. */
function circles(): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path]);
      return;
    }
    if (done.has(path)) return;
    for (const next of imports.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return found;
}
