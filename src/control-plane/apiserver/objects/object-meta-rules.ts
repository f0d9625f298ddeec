/** Which names, labels, annotations, finalizers and owners an object may have; the texts are those of Kubernetes. */

import { forbiddenCause, invalidCause, requiredCause, tooLongCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import type { AnyObject, NameSyntax, ResourceType } from '../types/resource-type.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const MAX_ANNOTATION_BYTES = 256 * 1024;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const LABEL_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const LABEL_VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

/** Everything that is wrong with the metadata of a complete object. */
export function validateObjectMeta(type: Pick<ResourceType, 'nameSyntax'>, { metadata }: AnyObject): StatusCause[] {
  const { name, labels = {}, annotations = {}, finalizers = [], ownerReferences = [] } = metadata;
  return [
    ...(name ? whyNotName(type.nameSyntax, name).map((why) => invalidCause('metadata.name', name, why)) : [nameRequired()]),
    ...validateLabels(labels, 'metadata.labels'),
    ...validateAnnotations(annotations),
    ...finalizers.flatMap((finalizer) => whyNotQualified(finalizer).map((why) => invalidCause('metadata.finalizers', finalizer, why))),
    ...validateOwners(ownerReferences),
  ];
}

function nameRequired(): StatusCause {
  return requiredCause('metadata.name', 'name or generateName is required');
}

/** Why a name is not one of this syntax. */
function whyNotName(syntax: NameSyntax, name: string): string[] {
  switch (syntax) {
    case 'path-segment':
      return whyNotPathSegment(name);
    case 'subdomain':
      return [...tooLong(name, 253), ...(SUBDOMAIN.test(name) ? [] : [SUBDOMAIN_TEXT])];
    case 'label':
      return [...tooLong(name, 63), ...(LABEL.test(name) ? [] : [LABEL_TEXT])];
    case 'service':
      return [...tooLong(name, 63), ...(LABEL_1035.test(name) ? [] : [LABEL_1035_TEXT])];
  }
}

/** Why a text cannot stand between two slashes of a path. */
export function whyNotPathSegment(name: string): string[] {
  if (name === '.' || name === '..') return [`may not be '${name}'`];
  return ['/', '%'].filter((part) => name.includes(part)).map((part) => `may not contain '${part}'`);
}

function tooLong(text: string, limit: number): string[] {
  return text.length > limit ? [`must be no more than ${limit} characters`] : [];
}

function validateLabels(labels: Readonly<Record<string, string>>, field: string): StatusCause[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...whyNotQualified(key).map((why) => invalidCause(field, key, why)),
    ...tooLong(value, 63).map((why) => invalidCause(field, value, why)),
    ...(LABEL_VALUE.test(value) ? [] : [invalidCause(field, value, LABEL_VALUE_TEXT)]),
  ]);
}

function validateAnnotations(annotations: Readonly<Record<string, string>>): StatusCause[] {
  const keys = Object.keys(annotations);
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + value.length, 0);
  return [
    ...keys.flatMap((key) => whyNotQualified(key.toLowerCase()).map((why) => invalidCause('metadata.annotations', key, why))),
    ...(bytes > MAX_ANNOTATION_BYTES ? [tooLongCause('metadata.annotations', MAX_ANNOTATION_BYTES)] : []),
  ];
}

/** Why a key (`prefix/name` or `name`) is not a qualified name. */
function whyNotQualified(key: string): string[] {
  const slash = key.indexOf('/');
  const prefix = slash < 0 ? undefined : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const reasons: string[] = [];
  if (prefix !== undefined && (prefix === '' || !SUBDOMAIN.test(prefix))) {
    reasons.push(prefix === '' ? 'prefix part must be non-empty' : `prefix part ${SUBDOMAIN_TEXT}`);
  }
  if (name === '') reasons.push('name part must be non-empty');
  else if (name.length > 63) reasons.push('name part must be no more than 63 characters');
  if (!QUALIFIED.test(name)) reasons.push(QUALIFIED_TEXT);
  return reasons;
}

function validateOwners(owners: NonNullable<AnyObject['metadata']['ownerReferences']>): StatusCause[] {
  const causes = owners.flatMap((owner, i) =>
    (['apiVersion', 'kind', 'name', 'uid'] as const)
      .filter((field) => !owner[field])
      .map((field) => invalidCause(`metadata.ownerReferences[${i}].${field}`, '', `${field} must not be empty`)),
  );
  const controllers = owners.filter((owner) => owner.controller);
  if (controllers.length > 1) {
    const [first, second] = controllers;
    const text = `Only one reference can have Controller set to true. Found "true" in references for ${first?.name} and ${second?.name}`;
    causes.push(invalidCause('metadata.ownerReferences', owners, text));
  }
  return causes;
}

/** What an update may not do to the metadata of an object. */
export function validateMetaUpdate(object: AnyObject, old: AnyObject): StatusCause[] {
  const added = (object.metadata.finalizers ?? []).filter((finalizer) => !old.metadata.finalizers?.includes(finalizer));
  if (old.metadata.deletionTimestamp === undefined || added.length === 0) return [];
  const text = `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`;
  return [forbiddenCause('metadata.finalizers', text)];
}
