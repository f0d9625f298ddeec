/** The options in the body of a subresource call: JSON or YAML whatever the Content-Type says, or nothing at all. */
import { ApiError, messageOf } from '../../base/errors.ts';
import { isObject, type JsonObject } from '../../base/json.ts';
import { readBytes } from '../../base/read-bytes.ts';

const MAX_BODY_BYTES = 1024 * 1024;
/** The parser of YAML is slow where a body is made to be, and webhooks wait meanwhile. */
const MAX_YAML_LENGTH = 64 * 1024;

/** The body as an object; an empty one is an empty object. */
export async function readOptions(request: Request): Promise<JsonObject> {
  const text = (await readText(request)).trim();
  if (text === '') return {};
  const options = await parse(text);
  if (!isObject(options)) throw new ApiError('BadRequest', 'the body of the request is not an object');
  return options;
}

/** `dryRun` is absent, empty or ["All"]. */
export function isDryRun(options: JsonObject): boolean {
  const { dryRun = [] } = options;
  const values = Array.isArray(dryRun) ? dryRun : [dryRun];
  const unknown = values.find((value) => value !== 'All');
  if (unknown !== undefined)
    throw new ApiError('BadRequest', `dryRun: Unsupported value: ${JSON.stringify(unknown)}: supported values: "All"`);
  return values.length > 0;
}

/** A whole number of seconds, zero or more. */
export function secondsOption(options: JsonObject, name: string): number | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  throw new ApiError('BadRequest', `${name}: Invalid value: ${JSON.stringify(value)}: must be a whole number, zero or greater`);
}

/** A text, or the empty one. */
export function textOption(options: JsonObject, name: string): string {
  const value = options[name] ?? '';
  if (typeof value === 'string') return value;
  throw new ApiError('BadRequest', `${name}: Invalid value: ${JSON.stringify(value)?.slice(0, 64)}: must be a text`);
}

export function booleanOption(options: JsonObject, name: string): boolean {
  const value = options[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new ApiError('BadRequest', `${name}: Invalid value: ${JSON.stringify(value)}: must be true or false`);
}

async function readText(request: Request): Promise<string> {
  return new TextDecoder().decode(await readBytes(request.body, MAX_BODY_BYTES, 'the body of the request'));
}

async function parse(text: string): Promise<unknown> {
  try {
    return JSON.parse(text);
  } catch {
    // not JSON; YAML is the other way to write it
  }
  if (text.length > MAX_YAML_LENGTH)
    throw new ApiError('RequestEntityTooLarge', `the body of the request is YAML of more than ${MAX_YAML_LENGTH} characters; send JSON`);
  const { parse: parseYaml } = await import('yaml');
  try {
    // That keys are unique is not for the parser to check: it compares each with each.
    return parseYaml(text, { uniqueKeys: false, prettyErrors: false });
  } catch (error) {
    throw new ApiError('BadRequest', `the body of the request is neither JSON nor YAML: ${messageOf(error)}`, { cause: error });
  }
}
