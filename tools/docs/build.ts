/**
 * Builds the pages of the documentation into a folder: `node tools/docs/build.ts [FOLDER]`, .tools/docs unless one is named. They need no server and
 * nothing from elsewhere; `virtctl docs` serves them.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { renderSite, type Site, type Sources } from './site.ts';

const project = resolve(import.meta.dirname, '../..');
const PICTURES = 'docs/pictures';
const OF_PROJECT = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md'];

/** Everything that becomes a page. */
export function documentSources(): Sources {
  const inDocs = readdirSync(join(project, 'docs'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md'));
  const paths = [...OF_PROJECT, ...inDocs.map((name) => `docs/${name}`).sort()];
  return new Map(paths.map((path) => [path, readFileSync(join(project, path), 'utf8')]));
}

/** What record.ts beside this has made. */
export function pictureNames(): string[] {
  return readdirSync(join(project, PICTURES));
}

/** Whole or not at all: whoever reads the folder sees the old pages or the new ones. */
export async function buildDocs(folder: string): Promise<Site> {
  const fresh = `${folder}.${process.pid}`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  const site = renderSite(documentSources());
  for (const [name, html] of site.pages) writeFileSync(join(fresh, name), html);
  // A script and not a request: pages that are opened from a disk may ask for nothing.
  writeFileSync(join(fresh, 'search-index.js'), `globalThis.searchIndex = ${JSON.stringify(site.sections)};\n`);
  copyFileSync(join(import.meta.dirname, 'style.css'), join(fresh, 'style.css'));
  for (const name of pictureNames()) copyFileSync(join(project, PICTURES, name), join(fresh, name));
  await build({
    entryPoints: [join(import.meta.dirname, 'search.ts')],
    outfile: join(fresh, 'search.js'),
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2024',
    platform: 'browser',
    absWorkingDir: project,
    logLevel: 'warning',
  });
  rmSync(folder, { recursive: true, force: true });
  renameSync(fresh, folder);
  return site;
}

if (import.meta.main) {
  const { broken } = await buildDocs(resolve(process.argv[2] ?? join(project, '.tools/docs')));
  for (const link of broken) console.error(`a link leads nowhere: ${link}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
}
