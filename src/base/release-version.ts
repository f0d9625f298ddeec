/** Versions of releases, as v1.2.3 or v1.2.3-rc.1. Pure. */

const GRAMMAR = /^v?(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-([0-9A-Za-z.-]{1,64}))?(?:\+\S*)?$/;

/** Whether `one` came after `other`; false where one of them is no version of a release. */
export function isNewerRelease(one: string, other: string): boolean {
  const [left, right] = [GRAMMAR.exec(one), GRAMMAR.exec(other)];
  if (!left || !right) return false;
  for (const part of [1, 2, 3]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference > 0;
  }
  // What leads to a release comes before it.
  const [before, after] = [right[4], left[4]];
  if (before === undefined || after === undefined) return before !== undefined && after === undefined;
  return after.localeCompare(before, 'en', { numeric: true }) > 0;
}
