/** The names of images that mean something now. */
import { type Catalogue, readCatalogue } from '../../images/catalogue/catalogue.ts';
import { refreshCatalogues } from '../../images/catalogue/team-catalogues.ts';
import type { Deps } from '../deps.ts';

/** Catalogues from elsewhere are brought up to date before; what could not be is said on stderr. */
export async function currentCatalogue({ home, clock, stderr }: Pick<Deps, 'home' | 'clock' | 'stderr'>): Promise<Catalogue> {
  for (const note of await refreshCatalogues({ home, clock })) stderr.write(`virtctl: ${note}\n`);
  return readCatalogue(home);
}
