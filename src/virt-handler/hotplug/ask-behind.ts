/** Which disks could not grow when their guest was started: the launcher leaves their volumes. */
import { BEHIND_FILE } from '../../api/launcher/files.ts';
import { textIn } from '../text-in.ts';

const MOST = 256;

/** The names of the volumes; none of a launcher that says nothing. */
export async function askBehind(folder: string): Promise<readonly string[]> {
  const text = await textIn(folder, BEHIND_FILE);
  try {
    const said: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(said) ? said.filter((each: unknown) => typeof each === 'string').slice(0, MOST) : [];
  } catch {
    return [];
  }
}
