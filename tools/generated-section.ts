/** Parts of a page that are made, between two marks; the rest of it is written by hand. */

/** The page with one of its parts made anew. */
export function withSection(page: string, name: string, content: string): string {
  const begin = `<!-- begin generated: ${name} -->\n`;
  const end = `<!-- end generated: ${name} -->`;
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from < 0 || to < from) throw new Error(`the marks of the generated section ${name} are not there`);
  return `${page.slice(0, from + begin.length)}${content}${page.slice(to)}`;
}
