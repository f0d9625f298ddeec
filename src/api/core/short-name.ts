/** Names that Kubernetes accepts as labels, volumes and containers. */
import { sha1Hex } from '../../base/sha1.ts';

export const LONGEST_LABEL = 63;

/** At most 63 characters, as labels and volume names must be, and still one name for one text. */
export function shortened(text: string): string {
  return text.length <= LONGEST_LABEL ? text : `${text.slice(0, 54)}-${sha1Hex(text).slice(0, 8)}`;
}
