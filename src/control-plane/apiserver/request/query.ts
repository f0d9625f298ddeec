/** Query parameters and options shared by the verbs, checked as the API checks them. */
import { ApiError } from '../../../base/errors.ts';
import { isObject, type JsonObject, jsonText } from '../../../base/json.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

/** True for `dryRun=All` in the query or in an options body; anything else but absence is refused. */
export function isDryRun(query: URLSearchParams, options?: JsonObject): boolean {
  const fromOptions = Array.isArray(options?.['dryRun']) ? (options['dryRun'] as unknown[]).map(jsonText) : [];
  const values = [...query.getAll('dryRun'), ...fromOptions].filter((value) => value !== '');
  for (const value of values) {
    if (value !== 'All') {
      const message = `Unsupported value: "${value}": supported values: "All"`;
      throw new ApiError('Invalid', `Invalid value: dryRun: ${message}`, {
        details: { causes: [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }] },
      });
    }
  }
  return values.length > 0;
}

export function fieldValidation(query: URLSearchParams): FieldValidation {
  const value = query.get('fieldValidation') ?? '';
  if (value === '') return 'Warn';
  if (value === 'Strict' || value === 'Warn' || value === 'Ignore') return value;
  const message = `Unsupported value: "${value}": supported values: "Ignore", "Strict", "Warn"`;
  throw new ApiError('Invalid', `Invalid value: fieldValidation: ${message}`, {
    details: { causes: [{ reason: 'FieldValueNotSupported', message, field: 'fieldValidation' }] },
  });
}

const MAX_FIELD_MANAGER = 128;

/** The name under which the request owns fields, undefined when it gives none. */
export function fieldManagerOf(query: URLSearchParams): string | undefined {
  const name = query.get('fieldManager') ?? '';
  if (name.length > MAX_FIELD_MANAGER) {
    throw patchOptionsInvalid('FieldValueTooLong', 'fieldManager', `Too long: may not be more than ${MAX_FIELD_MANAGER} bytes`);
  }
  if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(name)) {
    const message = `Invalid value: ${JSON.stringify(name)}: should only contain printable characters`;
    throw patchOptionsInvalid('FieldValueInvalid', 'fieldManager', message);
  }
  return name === '' ? undefined : name;
}

/** An apply says who applies. */
export function assertApplyOptions(query: URLSearchParams): void {
  if (fieldManagerOf(query) === undefined) {
    throw patchOptionsInvalid('FieldValueRequired', 'fieldManager', 'Required value: is required for apply patch');
  }
}

/** Only an apply can be forced. */
export function assertPlainPatchOptions(query: URLSearchParams): void {
  if (query.get('force')) throw patchOptionsInvalid('FieldValueForbidden', 'force', 'Forbidden: may not be specified for non-apply patch');
}

/** True when an apply takes what belongs to others. */
export function isForced(query: URLSearchParams): boolean {
  return ['true', '1', 't', 'T', 'TRUE', 'True'].includes(query.get('force') ?? '');
}

function patchOptionsInvalid(reason: string, field: string, message: string): ApiError {
  return new ApiError('Invalid', `PatchOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    details: { group: 'meta.k8s.io', kind: 'PatchOptions', causes: [{ reason, message, field }] },
  });
}

/** A whole number of the query, undefined when it is not there. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text))
    throw new ApiError('BadRequest', `${name}: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

/** A resource version of the query as a number; undefined when unset. */
export function resourceVersionOf(query: URLSearchParams): number | undefined {
  const text = query.get('resourceVersion') ?? '';
  if (text === '') return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new ApiError('BadRequest', `invalid resource version: ${JSON.stringify(text)}`);
  return Number(text);
}

export type DeleteOptions = {
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Background' | 'Foreground' | 'Orphan' | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly isDryRun: boolean;
};

const POLICIES = ['Background', 'Foreground', 'Orphan'] as const;

/** Options of a deletion, from its body or, where that has none, from the query. */
export function deleteOptions(query: URLSearchParams, body: JsonObject): DeleteOptions {
  const policy = body['propagationPolicy'] ?? query.get('propagationPolicy') ?? undefined;
  const orphan = body['orphanDependents'];
  if (policy !== undefined && typeof orphan === 'boolean') {
    throw optionsInvalid(
      'propagationPolicy',
      `Invalid value: "${jsonText(policy)}": orphanDependents and deletionPropagation cannot be both set`,
    );
  }
  if (policy !== undefined && !POLICIES.includes(policy as never)) {
    throw optionsInvalid(
      'propagationPolicy',
      `Unsupported value: "${jsonText(policy)}": supported values: "Foreground", "Background", "Orphan", "nil"`,
    );
  }
  const fromOrphan = typeof orphan === 'boolean' ? (orphan ? 'Orphan' : 'Background') : undefined;
  const grace = body['gracePeriodSeconds'] ?? wholeNumber(query, 'gracePeriodSeconds');
  const preconditions = isObject(body['preconditions']) ? body['preconditions'] : {};
  return {
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: (policy as (typeof POLICIES)[number] | undefined) ?? fromOrphan,
    uid: textOf(preconditions['uid']),
    resourceVersion: textOf(preconditions['resourceVersion']),
    isDryRun: isDryRun(query, body),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function optionsInvalid(field: string, message: string): ApiError {
  return new ApiError('Invalid', `DeleteOptions.meta.k8s.io "" is invalid: ${field}: ${message}`, {
    details: { group: 'meta.k8s.io', kind: 'DeleteOptions', causes: [{ reason: 'FieldValueInvalid', message, field }] },
  });
}
