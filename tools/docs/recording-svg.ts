/** A session at a terminal as one picture that moves by CSS alone: lines appear when they did, long waits are cut short. Pure. */
import type { Line, Piece } from './terminal-text.ts';

/** A line and when it was there, in milliseconds from the beginning. */
export type TimedLine = { readonly line: Line; readonly atMs: number };

const [CHARACTER, HEIGHT, MARGIN] = [7.8, 19, 18];
const MAX_WAIT_MS = 1_800;
const REST_MS = 6_000;
const STYLE = `text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#d8dee9;white-space:pre}
.bold{font-weight:700}.dim{fill:#7b8794}.red{fill:#f07178}.green{fill:#8fd18a}.yellow{fill:#e6c384}.cyan{fill:#7fc8d8}
@media(prefers-reduced-motion:reduce){text{animation:none!important}}`;

export function recordingSvg(
  lines: readonly TimedLine[],
  { title, columns }: { readonly title: string; readonly columns: number },
): string {
  const times = shortened(lines.map(({ atMs }) => atMs));
  const totalMs = (times.at(-1) ?? 0) + REST_MS;
  const width = Math.round(columns * CHARACTER + 2 * MARGIN);
  const height = lines.length * HEIGHT + 2 * MARGIN;
  const shown = (atMs: number) => ((atMs / totalMs) * 100).toFixed(2);
  const frames = [...new Set(times)].map((atMs) => {
    const at = shown(atMs);
    return `@keyframes t${atMs}{0%,${at}%{opacity:0}${Math.min(Number(at) + 0.01, 100).toFixed(2)}%,100%{opacity:1}}`;
  });
  const texts = lines.map(({ line }, row) => {
    const y = MARGIN + HEIGHT * (row + 0.75);
    const animation = `animation:t${times[row]} ${totalMs}ms linear infinite`;
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve" style="${animation}">${line.map(piece).join('')}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<style>${STYLE}\n${frames.join('\n')}</style>`,
    `<rect width="100%" height="100%" rx="8" fill="#1b1f27"/>`,
    ...texts,
    '</svg>',
    '',
  ].join('\n');
}

/** Nobody waits in front of a picture. */
function shortened(times: readonly number[]): number[] {
  let [last, now] = [0, 0];
  return times.map((atMs) => {
    now += Math.min(Math.max(atMs - last, 0), MAX_WAIT_MS);
    last = atMs;
    return Math.round(now);
  });
}

function piece({ text, style }: Piece): string {
  return style.length === 0 ? escaped(text) : `<tspan class="${style.join(' ')}">${escaped(text)}</tspan>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
