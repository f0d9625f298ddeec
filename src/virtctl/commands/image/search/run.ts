/** The short names of images in which a word is. */
import { UserError } from '../../../../base/errors.ts';
import type { Deps } from '../../../deps.ts';
import { currentCatalogue } from '../../../images/current-catalogue.ts';
import { catalogueTable } from '../catalogue-table.ts';

export async function run(deps: Deps, _flags: object, word = ''): Promise<void> {
  const found = (await currentCatalogue(deps)).search(word);
  if (found.length === 0)
    throw new UserError('NAME_MISSING', `no name or description has ${JSON.stringify(word)} in it`, {
      fix: 'virtctl image search shows all names; virtctl image catalogue add takes one more catalogue',
      exitCode: 3,
    });
  deps.stdout.write(catalogueTable(found, deps.stdout.columns));
}
