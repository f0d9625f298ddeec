/** The short names of images, and the catalogues that others publish. */
import { UserError } from '../../../../base/errors.ts';
import { addCatalogue, removeCatalogue } from '../../../../images/catalogue/team-catalogues.ts';
import type { Deps } from '../../../deps.ts';
import { currentCatalogue } from '../../../images/current-catalogue.ts';
import { catalogueTable } from '../catalogue-table.ts';

export async function run(deps: Deps, _flags: object, verb?: string, address?: string): Promise<void> {
  const { home, clock, stdout } = deps;
  if (verb === undefined) {
    stdout.write(catalogueTable((await currentCatalogue(deps)).search(), stdout.columns));
  } else if (verb === 'add' && address !== undefined) {
    const count = await addCatalogue(address, { home, clock });
    stdout.write(`${address} added, ${count} name${count === 1 ? '' : 's'}\n`);
  } else if (verb === 'remove' && address !== undefined) {
    await removeCatalogue(address, home);
    stdout.write(`${address} removed\n`);
  } else
    throw new UserError('USAGE', `${[verb, address].filter(Boolean).join(' ')} is not understood`, {
      fix: 'virtctl image catalogue add URL, or virtctl image catalogue remove URL; virtctl image search WORD finds a name',
      exitCode: 2,
    });
}
