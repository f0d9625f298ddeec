/** The SDK in a package: one file for Node, one for browsers, and the types of both. */
import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { lazyYaml } from './bundle.ts';

const PROJECT = resolve(import.meta.dirname, '../..');
const ENTRIES = ['src/sdk/node/index.ts', 'src/sdk/browser/index.ts'];
/** As tsconfig.json, but for what is written. */
const COMPILER = {
  '--target': 'esnext',
  '--lib': 'esnext,dom,dom.iterable,dom.asynciterable',
  '--types': 'node',
  '--module': 'nodenext',
  '--rootDir': 'src',
};
const SWITCHES = ['--ignoreConfig', '--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck', '--allowImportingTsExtensions'];

/** What package.json says of it: a browser's bundler takes the one, Node the other. */
export const SDK_EXPORTS = {
  '.': {
    browser: { types: './types/sdk/browser/index.d.ts', default: './lib/sdk-browser.mjs' },
    default: { types: './types/sdk/node/index.d.ts', default: './lib/sdk.mjs' },
  },
  './package.json': './package.json',
} as const;

/** Writes lib/sdk.mjs, lib/sdk-browser.mjs and types/. */
export async function stageSdk(into: string): Promise<void> {
  const shared = { absWorkingDir: PROJECT, bundle: true, format: 'esm', target: 'es2024', charset: 'utf8', legalComments: 'none' } as const;
  await build({
    ...shared,
    entryPoints: [ENTRIES[1] ?? ''],
    outfile: join(into, 'lib/sdk-browser.mjs'),
    platform: 'browser',
    minify: true,
  });
  const banner = {
    js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
  };
  const ofNode = { ...shared, target: 'node24', platform: 'node', minifySyntax: true, minifyWhitespace: true, banner } as const;
  await build({ ...ofNode, entryPoints: [ENTRIES[0] ?? ''], outfile: join(into, 'lib/sdk.mjs'), plugins: [lazyYaml] });
  writeTypes(join(into, 'types'));
}

/** The package has no dependencies, so the types that its types are made of are brought along. */
export function writeTypes(into: string): void {
  const options = Object.entries(COMPILER).flat();
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', ...SWITCHES, ...options, '--outDir', into, ...ENTRIES], {
    cwd: PROJECT,
  });
  const isType = (path: string) => extname(path) === '' || path.endsWith('.d.mts');
  for (const file of readdirSync(into, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.d.ts'))) {
    const path = join(into, file);
    const typebox = `${relative(dirname(path), into)}/typebox/index.mjs`;
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll(/(['"])typebox\1/g, `"${typebox}"`));
  }
  cpSync(join(PROJECT, 'node_modules/typebox/build'), join(into, 'typebox'), { recursive: true, filter: isType });
  cpSync(join(PROJECT, 'node_modules/typebox/license'), join(into, 'typebox/license'));
}
