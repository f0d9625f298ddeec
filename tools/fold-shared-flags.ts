/** The help of a command without the flags that all have: a page that says them once need not say them for each. Pure. */
import { connection } from '../src/virtctl/parameters.ts';

/** `shared` are the flags of a connection that the help had. */
export type Folded = { readonly help: string; readonly shared: readonly string[] };

type Row = { readonly flag: string; readonly brief: string; readonly note: string };

const TITLE = 'FLAGS';
const HELP = 'Print help information and exit';
const SEPARATOR = 'All subsequent inputs should be interpreted as arguments';

/** Takes them by what is said of them: a flag of the same name that means something else stays. */
export function foldSharedFlags(help: string): Folded {
  const lines = help.split('\n');
  const start = lines.indexOf(TITLE);
  if (start < 0) return { help, shared: [] };
  const blank = lines.indexOf('', start);
  const end = blank < 0 ? lines.length : blank;
  const rows = rowsOf(lines.slice(start + 1, end));
  const shared = Object.entries(connection).filter(([, { brief }]) => rows.some((row) => row.brief === brief));
  const said = new Set<string>([HELP, SEPARATOR, ...shared.map(([, { brief }]) => brief)]);
  const kept = rows.filter(({ brief }) => !said.has(brief));
  const flags = kept.length === 0 ? [] : ['', TITLE, ...aligned(kept)];
  const before = lines.slice(0, start).join('\n').trimEnd();
  return { help: [before, ...flags, ...lines.slice(end)].join('\n'), shared: shared.map(([flag]) => flag) };
}

/** What is said of a flag begins where it does for --help, and a default or the choices come last. */
function rowsOf(lines: readonly string[]): Row[] {
  const column = lines.find((line) => line.includes(HELP))?.indexOf(HELP) ?? 0;
  return lines.map((line) => {
    const { brief = '', note = '' } = /^(?<brief>.*?)(?: +(?<note>\[[^\]]*\]))?$/.exec(line.slice(column))?.groups ?? {};
    return { flag: line.slice(0, column).trimEnd(), brief, note };
  });
}

function aligned(rows: readonly Row[]): string[] {
  const flags = Math.max(...rows.map(({ flag }) => flag.length));
  const briefs = Math.max(...rows.map(({ brief }) => brief.length));
  return rows.map(({ flag, brief, note }) => `${flag.padEnd(flags)}  ${brief.padEnd(briefs)} ${note}`.trimEnd());
}
