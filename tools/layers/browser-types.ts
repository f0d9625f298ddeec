/** Folders that must run in a browser are compiled without the types of Node: a global of Node, however it is written, is then an unknown name. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { BROWSER_SAFE, MAY_IMPORT } from './tables.ts';

const PROJECT = resolve(import.meta.dirname, '../..');

/** What the compiler says of the browser-safe folders below a root; nothing when they need no Node. */
export function browserTypeErrors(root: string): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'browser-types-'));
  const within = (path: string) => join(resolve(root), path);
  const nodeCorners = Object.keys(MAY_IMPORT).filter((each) => BROWSER_SAFE.some((safe) => each.startsWith(`${safe}/`)));
  try {
    const config = {
      extends: join(PROJECT, 'tsconfig.json'),
      compilerOptions: { types: [] },
      include: BROWSER_SAFE.map(within),
      exclude: [...nodeCorners, '**/*.test.ts', '**/*.testing.ts', '**/*.contract.ts'].map(within),
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config));
    const args = [join(PROJECT, 'node_modules/typescript/bin/tsc'), '--noEmit', '--pretty', 'false', '-p', folder];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: PROJECT, encoding: 'utf8' });
    return status === 0 ? [] : `${stdout}${stderr}`.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
