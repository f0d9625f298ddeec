import { signOut } from './page-fetch.ts';
import { forgetNamespace } from './session.ts';

/** Ends what the browser and the server keep of the user. */
export async function leave(): Promise<void> {
  forgetNamespace();
  await signOut();
}
