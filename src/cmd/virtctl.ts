/** The executable virtctl. Only what every call needs is loaded before the compile cache is on: people wait for this program. */
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { cacheFolder, virtHome } from '../base/node/folders.ts';
import { withoutAliases } from '../virtctl/command-aliases-table.ts';
import { foldHelp } from '../virtctl/fold-help.ts';
import { keepSeparator } from '../virtctl/keep-separator.ts';
import { quickAnswer } from '../virtctl/quick-answer.ts';
import { PLACES } from './places.ts';
import { VERSION } from './version.ts';

enableCompileCache(join(cacheFolder(), 'compile'));
delete process.env['NODE_COMPILE_CACHE']; // bin/virtctl set it for us, not for the programs that we start
process.stdout.on('error', leaveQuietly);
const words = withoutAliases(process.argv.slice(2));
const name = process.env['VIRTCTL_NAME'];
// The release in one file, which is what people call; this program is a copy of it in the cache.
const file = process.env['VIRTCTL_FILE'];
delete process.env['VIRTCTL_FILE'];
// 0 where the terminal does not say.
const columns = process.stdout.columns || undefined;
const quick = quickAnswer(words, name);
if (quick === undefined) await answer();
else process.stdout.write(columns === undefined ? quick : foldHelp(quick, columns));

// The command line library has codes of its own for what people typed wrong; by our table all of that is usage.
if (Number(process.exitCode) < 0) process.exitCode = 2;

/** Everything that takes the table of commands. */
async function answer(): Promise<void> {
  const context = {
    process,
    home: virtHome(),
    cache: cacheFolder(),
    program: file || join(PLACES.programs, 'virtctl'),
    embeddedProgram: PLACES.embeddedProgram,
    examples: PLACES.examples,
    manifests: PLACES.deploy,
    guests: PLACES.guests,
    releaseFile: PLACES.releaseFile,
    page: PLACES.page,
    docs: PLACES.docs,
    version: VERSION,
  };
  const [first, ...rest] = words;
  const { buildVirtctl } = await import('../virtctl/app.ts');
  if (first === '__complete') {
    const { propose } = await import('../virtctl/complete/propose.ts');
    process.stdout.write(await propose(await buildVirtctl({ first: rest.length > 1 ? rest[0] : undefined }), rest, context));
  } else {
    const { run } = await import('@stricli/core');
    await run(await buildVirtctl({ name, first, columns }), keepSeparator(words), context);
  }
}

/** Whoever read our output has seen enough, as `head` does. */
function leaveQuietly(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
}
