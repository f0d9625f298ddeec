/** Content negotiation: in which shape the client wants the answer. */
import { ApiError } from '../../../base/errors.ts';

type Encoding = 'json' | 'yaml';
/** `object` is the thing itself; the others are views of it. */
export type Representation = {
  readonly as: 'object' | 'table' | 'partial';
  readonly encoding: Encoding;
  readonly version: 'v1' | 'v1beta1';
};

type AcceptEntry = { readonly type: string; readonly parameters: ReadonlyMap<string, string>; readonly quality: number };

const VIEWS = new Map<string, 'table' | 'partial'>([
  ['Table', 'table'],
  ['PartialObjectMetadata', 'partial'],
  ['PartialObjectMetadataList', 'partial'],
]);
const ENCODINGS = new Map<string, Encoding>([
  ['application/json', 'json'],
  ['application/yaml', 'yaml'],
  ['application/*', 'json'],
  ['*/*', 'json'],
]);

/** The entries of an Accept header, the most wanted first. */
export function acceptEntries(header: string | null): AcceptEntry[] {
  const entries = (header ?? '').split(',').flatMap((text) => {
    const [type = '', ...rest] = text.split(';').map((part) => part.trim());
    if (type === '') return [];
    const parameters = new Map(rest.map((part) => part.split('=', 2) as [string, string]));
    return [{ type: type.toLowerCase(), parameters, quality: Number(parameters.get('q') ?? 1) }];
  });
  return entries.sort((a, b) => b.quality - a.quality); // stable: equals stay in the client's order
}

/** The first shape in the client's order that the server can give; NotAcceptable when there is none. */
export function negotiate(request: Request): Representation {
  const entries = acceptEntries(request.headers.get('accept'));
  if (entries.length === 0) return { as: 'object', encoding: 'json', version: 'v1' };
  for (const { type, parameters } of entries) {
    const encoding = ENCODINGS.get(type);
    if (!encoding) continue;
    const view = parameters.get('as');
    if (view === undefined) return { as: 'object', encoding, version: 'v1' };
    const as = VIEWS.get(view);
    const version = parameters.get('v');
    if (as && parameters.get('g') === 'meta.k8s.io' && (version === 'v1' || version === 'v1beta1')) return { as, encoding, version };
  }
  throw new ApiError(
    'NotAcceptable',
    'only the following media types are accepted: application/json, application/yaml, application/json;as=Table, application/json;as=PartialObjectMetadata',
  );
}
