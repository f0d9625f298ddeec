/**
 * Paths of routes, written and read. A parameter has a grammar of its own, and none of them knows a slash, a percent sign or a name that
 * starts with a dot: a path that was written is read as the same parameters, and nothing else is.
 */
import { ApiError } from '../../base/errors.ts';

export type Protocol = 'tcp' | 'udp';
export type RouteParameters = {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly protocol: Protocol;
  readonly uid: string;
};
type ParameterName = keyof RouteParameters;

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;
/** The parameters of a path. */
export type ParametersIn<Path extends string> = Pick<RouteParameters, NamesIn<Path> & ParameterName>;

type Grammar = { readonly pattern: RegExp; readonly isValid?: (text: string) => boolean };
const GRAMMARS: Readonly<Record<ParameterName, Grammar>> = {
  namespace: { pattern: /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/ },
  name: { pattern: /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/ },
  port: { pattern: /^[1-9][0-9]{0,4}$/, isValid: (text) => Number(text) <= 65_535 },
  protocol: { pattern: /^(tcp|udp)$/ },
  uid: { pattern: /^[A-Za-z0-9][A-Za-z0-9-]{0,127}$/ },
};

/** The path with these parameters in it; throws BadRequest for one that no path can have. */
export function buildRoutePath<Path extends string>(template: Path, parameters: ParametersIn<Path>): string {
  const values = parameters as Partial<RouteParameters>; // which of them are there is what the type says
  return template
    .split('/')
    .map((segment) => {
      const name = parameterIn(segment);
      if (name === undefined) return segment;
      const text = String(values[name]);
      if (!fits(name, text)) throw new ApiError('BadRequest', `${name}: Invalid value: ${JSON.stringify(text)}`);
      return text;
    })
    .join('/');
}

/** The parameters in a path; undefined when it is not one of this template. */
export function matchRoutePath<Path extends string>(template: Path, path: string): ParametersIn<Path> | undefined {
  const segments = path.split('/');
  const expected = template.split('/');
  if (segments.length !== expected.length) return undefined;
  const found: Partial<Record<ParameterName, string | number>> = {};
  for (const [i, segment] of segments.entries()) {
    const name = parameterIn(expected[i] ?? '');
    if (name === undefined ? segment !== expected[i] : !fits(name, segment)) return undefined;
    if (name !== undefined) found[name] = name === 'port' ? Number(segment) : segment;
  }
  return found as ParametersIn<Path>; // all of the template, each in its grammar
}

function parameterIn(segment: string): ParameterName | undefined {
  return segment.startsWith(':') ? (segment.slice(1) as ParameterName) : undefined; // a test reads each template of the table
}

function fits(name: ParameterName, text: string): boolean {
  const { pattern, isValid } = GRAMMARS[name];
  return pattern.test(text) && (isValid?.(text) ?? true);
}
