/** The executable virtctl. */
import { enableCompileCache } from 'node:module';
import { join, resolve } from 'node:path';
import { run } from '@stricli/core';
import { cacheFolder, virtHome } from '../base/node/folders.ts';
import { buildVirtctl } from '../virtctl/app.ts';
import { VERSION } from './version.ts';

enableCompileCache(join(cacheFolder(), 'compile'));
process.stdout.on('error', leaveQuietly);
const project = resolve(import.meta.dirname, '../..');

await run(buildVirtctl(), process.argv.slice(2), {
  process,
  home: virtHome(),
  cache: cacheFolder(),
  program: join(project, 'bin', 'virtctl'),
  embeddedProgram: join(import.meta.dirname, 'all-in-one.ts'),
  examples: join(project, 'examples'),
  version: VERSION,
});

// The command line library has codes of its own for what people typed wrong; by our table all of that is usage.
if (Number(process.exitCode) < 0) process.exitCode = 2;

/** Whoever read our output has seen enough, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}
