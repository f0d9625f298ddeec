/** Serves the documentation of this release until it is ended. */
import { existsSync } from 'node:fs';
import { UserError } from '../../../base/errors.ts';
import { readPageFiles } from '../../../ui-server/page-files.ts';
import type { Deps } from '../../deps.ts';
import { openBrowser, parsePort, untilEnded } from '../../local-page.ts';
import { serveDocs } from './serve-docs.ts';

export type DocsFlags = { readonly port?: number; readonly open: boolean };

export async function run(deps: Deps, flags: DocsFlags): Promise<void> {
  const port = parsePort(flags.port ?? 0);
  if (!existsSync(deps.docs))
    throw new UserError('DOCS_MISSING', 'the documentation is not built', {
      why: `${deps.docs} is not there`,
      fix: 'script/bootstrap builds it; a release has it',
    });
  const server = await serveDocs(readPageFiles(deps.docs), port);
  const end = untilEnded(deps);
  if (flags.open) openBrowser(server.address, deps.env);
  deps.stderr.write('The documentation of this release; Ctrl+C ends.\n');
  deps.stdout.write(`${server.address}\n`);
  await end;
  await server.close();
}
