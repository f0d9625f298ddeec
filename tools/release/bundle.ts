/**
 * Writes the release files: each executable of a cluster with everything it needs in one file, dist/NAME.mjs, and those of a package with
 * what they share in files beside. Node runs them without this project around them. `npm run build`.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { type BuildOptions, build, type Plugin } from 'esbuild';

const PROJECT = resolve(import.meta.dirname, '../..');
/** Those of a cluster. What is not there yet is left out. */
const EXECUTABLES = ['virt-api', 'virt-controller', 'virt-handler', 'virt-importer', 'virt-launcher', 'virt-operator', 'virt-ui', 'vmctl'];
/** Those of somebody's own machine. */
const OF_PACKAGE = ['all-in-one', 'virt-importer', 'virt-launcher', 'virtctl', 'vmctl'];

/** Readers of a kubeconfig and of manifests load their YAML parser only when they need it, in a way that bundlers do not see. */
const LAZY_YAML = "createRequire(import.meta.url)('yaml')";
export const lazyYaml: Plugin = {
  name: 'lazy-yaml',
  setup({ onLoad }) {
    onLoad({ filter: /\/(kubeconfig|read-manifests)\.ts$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      if (!text.includes(LAZY_YAML)) throw new Error(`${path} loads yaml in another way now: look at ${basename(import.meta.filename)}`);
      return { contents: text.replace(LAZY_YAML, "require('yaml')"), loader: 'ts' };
    });
  },
};

/** Other words of the programs for their version: an upgrade is tried with two releases of the same sources. */
function calledVersion(version: string): Plugin {
  const contents = `export const VERSION = ${JSON.stringify(version)};`;
  return { name: 'version', setup: ({ onLoad }) => onLoad({ filter: /\/src\/cmd\/version\.ts$/ }, () => ({ contents, loader: 'ts' })) };
}

/** Manifests and the like are elsewhere in a package. */
const placesOfPackage: Plugin = {
  name: 'places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\/src\/cmd\/places\.ts$/ }, () => ({
      contents: readFileSync(join(import.meta.dirname, 'places-of-package.ts'), 'utf8'),
      loader: 'ts',
    })),
};

/** The files that were written, by name of the executable. The same sources give the same bytes. */
export async function bundle(into: string, { version }: { version?: string | undefined } = {}): Promise<ReadonlyMap<string, string>> {
  const found = EXECUTABLES.filter((name) => existsSync(join(PROJECT, 'src/cmd', `${name}.ts`)));
  for (const name of EXECUTABLES) rmSync(join(into, `${name}.mjs`), { force: true });
  await build({ ...options(found, into), plugins: [lazyYaml, ...(version === undefined ? [] : [calledVersion(version)])] });
  return new Map(found.map((name) => [name, join(into, `${name}.mjs`)]));
}

/** The programs of a package, into its folder lib. A command of virtctl is loaded when it is called, as in a clone. */
export async function bundleForPackage(into: string, { version }: { version?: string | undefined } = {}): Promise<void> {
  const plugins = [lazyYaml, placesOfPackage, ...(version === undefined ? [] : [calledVersion(version)])];
  // A CommonJS module that is loaded later would come without its names.
  const mainFields = ['module', 'main'];
  await build({ ...options(OF_PACKAGE, into), splitting: true, chunkNames: '[name]-[hash]', mainFields, plugins });
}

/** The launcher alone, for a clone; answers with the sources that are in it, as paths from the project. */
export async function bundleLauncher(into: string): Promise<string[]> {
  const { metafile } = await build({ ...options(['virt-launcher'], into), metafile: true });
  return Object.keys(metafile.inputs);
}

function options(executables: readonly string[], into: string): BuildOptions {
  return {
    absWorkingDir: PROJECT,
    entryPoints: executables.map((name) => `src/cmd/${name}.ts`),
    outdir: into,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    charset: 'utf8',
    legalComments: 'none',
    minifySyntax: true,
    minifyWhitespace: true,
    // Names stay: they are in the stacks of the logs.
    banner: {
      js: [
        '#!/usr/bin/node --disable-warning=ExperimentalWarning',
        "import { createRequire as createRequireOfBundle } from 'node:module';",
        'const require = createRequireOfBundle(import.meta.url);',
      ].join('\n'),
    },
    logLevel: 'warning',
  };
}
