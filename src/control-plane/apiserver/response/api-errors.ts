/** The failures of the API in Kubernetes' own words: clients and their users recognise them. */
import { cutText } from '../../../base/causes.ts';
import { ApiError, type StatusCause } from '../../../base/errors.ts';
import { qualifiedKind, qualifiedPlural, type ResourceType } from '../types/resource-type.ts';

type Named = Pick<ResourceType, 'plural' | 'group'>;

function detailsOf({ plural, group }: Named, name: string) {
  return { name, ...(group !== '' && { group }), kind: plural };
}

export function notFound(type: Named, name: string): ApiError {
  return new ApiError('NotFound', `${qualifiedPlural(type)} "${name}" not found`, { details: detailsOf(type, name) });
}

export function alreadyExists(type: Named, name: string): ApiError {
  return new ApiError('AlreadyExists', `${qualifiedPlural(type)} "${name}" already exists`, { details: detailsOf(type, name) });
}

export function conflict(type: Named, name: string, why: string): ApiError {
  return new ApiError('Conflict', `Operation cannot be fulfilled on ${qualifiedPlural(type)} "${name}": ${why}`, {
    details: detailsOf(type, name),
  });
}

/** The message every client knows: read again, change again. */
export function modified(type: Named, name: string): ApiError {
  return conflict(type, name, 'the object has been modified; please apply your changes to the latest version and try again');
}

export function forbidden(type: Named, name: string | undefined, why: string, causes?: readonly StatusCause[]): ApiError {
  const subject = name === undefined || name === '' ? qualifiedPlural(type) : `${qualifiedPlural(type)} "${name}"`;
  return new ApiError('Forbidden', `${subject} is forbidden: ${why}`, {
    details: { ...detailsOf(type, name ?? ''), ...(causes && { causes }) },
  });
}

/** More mistakes of one object than a person mends at once. */
const MAX_CAUSES = 100;

export function invalid(type: Pick<ResourceType, 'kind' | 'group'>, given: string, all: readonly StatusCause[]): ApiError {
  const name = cutText(given);
  const causes = all.slice(0, MAX_CAUSES);
  const lines = causes.map(({ field, message }) => (field === '' ? message : `${field}: ${message}`));
  if (all.length > causes.length) lines.push(`and ${all.length - causes.length} more`);
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  const details = { ...(name !== '' && { name }), ...(type.group !== '' && { group: type.group }), kind: type.kind, causes };
  return new ApiError('Invalid', `${qualifiedKind(type)} "${name}" is invalid: ${text}`, { details });
}

export function methodNotAllowed(): ApiError {
  return new ApiError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

export function unknownPath(hint?: string): ApiError {
  return new ApiError('NotFound', `the server could not find the requested resource${hint ? `; ${hint}` : ''}`);
}
