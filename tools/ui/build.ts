/**
 * Builds the web page into a folder: `node tools/ui/build.ts [FOLDER]`, .tools/ui unless one is named.
 * What the page needs at once is one file; consoles, screen and YAML are loaded when somebody opens them.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { build } from 'esbuild';

const project = resolve(import.meta.dirname, '../..');
const source = join(project, 'src/ui');

/** Whole or not at all: whoever reads the folder sees the old page or the new one. */
export async function buildUi(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(source, 'main.tsx')],
    outdir: fresh,
    bundle: true,
    minify: true,
    splitting: true,
    format: 'esm',
    target: 'es2024',
    platform: 'browser',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    metafile: true,
    legalComments: 'eof',
    absWorkingDir: project,
    logLevel: 'warning',
  });
  const entries = Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === 'src/ui/main.tsx');
  const [script, { cssBundle }] = entries ?? ['', { cssBundle: undefined }];
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('<!-- styles -->', cssBundle ? `<link rel="stylesheet" href="/${basename(cssBundle)}">` : '')
    .replace('<!-- scripts -->', `<script type="module" src="/${basename(script)}"></script>`);
  writeFileSync(join(fresh, 'index.html'), page);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

if (import.meta.main) await buildUi(resolve(process.argv[2] ?? join(project, '.tools/ui')));
