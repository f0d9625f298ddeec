/**
 * Builds the web page into a folder: `node tools/ui/build.ts [FOLDER]`, .tools/ui unless one is named.
 * What the page needs at once is one file and a small one that begins; consoles, screen and YAML are loaded when somebody opens them.
 */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, resolve } from 'node:path';
import { build, type Metafile, type Plugin } from 'esbuild';
import { FIRST_QUESTIONS } from '../../src/ui/first-questions.ts';

const project = resolve(import.meta.dirname, '../..');
const source = join(project, 'src/ui');

/**
 * A file for every set of parts that share something would be twenty to begin with, and a browser asks for six at a time. Each part that is loaded
 * later therefore names the frame, too: all that the frame needs is then shared by the same parts, all of them, and is one file.
 */
const oneFirstFile: Plugin = {
  name: 'one-first-file',
  setup({ onResolve, onLoad }) {
    const later = new Set<string>();
    onResolve({ filter: /^\.\/.*\.tsx?$/ }, ({ kind, path, resolveDir }) => {
      if (kind !== 'dynamic-import') return undefined;
      const found = resolve(resolveDir, path);
      later.add(found);
      return { path: found };
    });
    onLoad({ filter: /\/src\/ui\/[^/]+\.tsx?$/ }, ({ path }) => {
      if (!later.has(path)) return undefined;
      return { contents: `import './app.tsx';\n${readFileSync(path, 'utf8')}`, loader: extname(path) === '.tsx' ? 'tsx' : 'ts' };
    });
  },
};

/** Whole or not at all: whoever reads the folder sees the old page or the new one. */
export async function buildUi(folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const { metafile } = await build({
    entryPoints: [join(source, 'main.tsx'), join(source, 'begin.ts')],
    define: { FIRST_QUESTIONS: JSON.stringify(FIRST_QUESTIONS.join(' ')) },
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
    plugins: [oneFirstFile],
    metafile: true,
    legalComments: 'eof',
    absWorkingDir: project,
    logLevel: 'warning',
  });
  const [script, { cssBundle }] = builtOf(metafile, 'src/ui/main.tsx');
  const [begin] = builtOf(metafile, 'src/ui/begin.ts');
  const page = readFileSync(join(source, 'index.html'), 'utf8')
    .replace('<!-- styles -->', cssBundle ? `<link rel="stylesheet" href="/${basename(cssBundle)}">` : '')
    .replace('<!-- scripts -->', [...[begin, script].map(scriptTag), ...preloads(metafile, script)].join('\n'));
  writeFileSync(join(fresh, 'index.html'), page);
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
}

function builtOf({ outputs }: Metafile, source: string): [string, Metafile['outputs'][string]] {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint === source);
  if (!found) throw new Error(`nothing was made of ${source}`);
  return found;
}

function scriptTag(path: string): string {
  return `<script type="module" src="/${basename(path)}"></script>`;
}

/** What the script asks for as soon as it is read, named in the page: so it is asked for at once. */
function preloads({ outputs }: Metafile, script: string): string[] {
  const needed = outputs[script]?.imports.filter(({ kind }) => kind === 'import-statement') ?? [];
  return needed.map(({ path }) => `<link rel="modulepreload" href="/${basename(path)}">`);
}

if (import.meta.main) await buildUi(resolve(process.argv[2] ?? join(project, '.tools/ui')));
