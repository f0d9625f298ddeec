/** Colour for people: on a terminal that wants it, and never in what another program reads. */
import type { Output } from './deps.ts';

export type Colour = 'red' | 'green' | 'yellow' | 'dim';
export type Paint = (colour: Colour | undefined, text: string) => string;

const CODES: Readonly<Record<Colour, string>> = { red: '31', green: '32', yellow: '33', dim: '2' };

/** Whether this stream is shown in colour: https://no-color.org, and terminals that cannot. */
export function hasColour(output: Pick<Output, 'isTTY'>, env: NodeJS.ProcessEnv): boolean {
  return output.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
}

/** Puts a text in colour, or leaves it as it is. */
export function paintFor(output: Pick<Output, 'isTTY'>, env: NodeJS.ProcessEnv): Paint {
  if (!hasColour(output, env)) return (_, text) => text;
  return (colour, text) => (colour ? `\x1b[${CODES[colour]}m${text}\x1b[0m` : text);
}

/** Writes text with sequences of ours in it: as bytes, because as text they would be shown, not obeyed. */
export function writePainted(output: Output, text: string): void {
  output.write(output.isTTY ? Buffer.from(text) : text);
}
