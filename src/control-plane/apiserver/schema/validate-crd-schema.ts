/** What a CustomResourceDefinition must be before anything is served from it: names that fit, one stored version, structural schemas. */

import { duplicateCause, invalidCause, requiredCause } from '../../../base/causes.ts';
import type { StatusCause } from '../../../base/errors.ts';
import { isObject, type JsonObject } from '../../../base/json.ts';
import { structuralCauses } from './validate-structural.ts';

const DNS_1035 = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const DNS_1035_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character";
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)+$/;
const APPROVAL = 'api-approved.kubernetes.io';

/** Every rule the definition breaks beyond its own schema, which the caller checks first. */
export function validateCrd(crd: JsonObject): StatusCause[] {
  const spec = objectAt(crd, 'spec');
  const versions = Array.isArray(spec['versions']) ? spec['versions'].filter(isObject) : [];
  return [
    ...nameCauses(crd, spec),
    ...approvalCauses(crd, spec),
    ...versionCauses(versions),
    ...(spec['preserveUnknownFields'] === true ? [invalidCause('spec.preserveUnknownFields', true, 'must be false')] : []),
    ...conversionCauses(objectAt(spec, 'conversion')),
    ...versions.flatMap((version, index) => schemaCauses(version, `spec.versions[${index}].schema`)),
  ];
}

function nameCauses(crd: JsonObject, spec: JsonObject): StatusCause[] {
  const names = objectAt(spec, 'names');
  const { plural, kind } = names;
  const group = spec['group'];
  const name = objectAt(crd, 'metadata')['name'];
  // The schema cannot demand these: the accepted names of the status have the same definition and start out empty.
  const missing = ['plural', 'kind'].filter((field) => typeof names[field] !== 'string' || names[field] === '');
  const causes = missing.map((field) => requiredCause(`spec.names.${field}`));
  if (missing.length > 0) return causes;
  if (typeof group === 'string' && !SUBDOMAIN.test(group)) {
    causes.push(invalidCause('spec.group', group, 'should be a domain with at least one dot'));
  }
  if (typeof plural === 'string' && typeof group === 'string' && name !== `${plural}.${group}`) {
    causes.push(invalidCause('metadata.name', name, 'must be spec.names.plural+"."+spec.group'));
  }
  const check = (field: string, value: unknown) => {
    if (typeof value === 'string' && !DNS_1035.test(value)) causes.push(invalidCause(`spec.names.${field}`, value, DNS_1035_TEXT));
  };
  check('plural', plural);
  check('singular', names['singular']);
  if (typeof kind === 'string' && !DNS_1035.test(kind.toLowerCase())) {
    causes.push(invalidCause('spec.names.kind', kind, `may have mixed case, but should otherwise match: ${DNS_1035_TEXT}`));
  }
  if (kind !== undefined && names['listKind'] === kind) {
    causes.push(invalidCause('spec.names.listKind', kind, 'kind and listKind may not be the same'));
  }
  return causes;
}

/** Groups of the Kubernetes project itself are not for everybody. */
function approvalCauses(crd: JsonObject, { group }: JsonObject): StatusCause[] {
  if (typeof group !== 'string' || !/(^|\.)(k8s|kubernetes)\.io$/.test(group)) return [];
  if (objectAt(objectAt(crd, 'metadata'), 'annotations')[APPROVAL] !== undefined) return [];
  return [requiredCause(`metadata.annotations[${APPROVAL}]`, `protected groups must have approval annotation "${APPROVAL}"`)];
}

function versionCauses(versions: readonly JsonObject[]): StatusCause[] {
  const causes: StatusCause[] = [];
  const names = versions.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index) causes.push(duplicateCause(`spec.versions[${index}].name`, name));
    if (typeof name === 'string' && !DNS_1035.test(name)) causes.push(invalidCause(`spec.versions[${index}].name`, name, DNS_1035_TEXT));
  }
  if (versions.filter(({ storage }) => storage === true).length !== 1) {
    causes.push(invalidCause('spec.versions', names, 'must have exactly one version marked as storage version'));
  }
  return causes;
}

function conversionCauses({ strategy = 'None', webhook }: JsonObject): StatusCause[] {
  if (strategy !== 'None' && strategy !== 'Webhook') {
    return [
      {
        reason: 'FieldValueNotSupported',
        message: `Unsupported value: ${JSON.stringify(strategy)}: supported values: "None", "Webhook"`,
        field: 'spec.conversion.strategy',
      },
    ];
  }
  if (strategy === 'None') return [];
  const field = 'spec.conversion.webhook';
  if (!isObject(webhook)) return [requiredCause(field, 'required when strategy is set to "Webhook"')];
  return [...clientConfigCauses(objectAt(webhook, 'clientConfig'), `${field}.clientConfig`), ...reviewVersionCauses(webhook, field)];
}

function clientConfigCauses({ url, service }: JsonObject, field: string): StatusCause[] {
  if ((url === undefined) === (service === undefined)) return [requiredCause(field, 'exactly one of url or service is required')];
  const isHttps = url === undefined || (typeof url === 'string' && URL.canParse(url) && url.startsWith('https://'));
  return isHttps ? [] : [invalidCause(`${field}.url`, url, "'https' is the only allowed URL scheme; desired format: https://host[/path]")];
}

function reviewVersionCauses({ conversionReviewVersions: versions }: JsonObject, at: string): StatusCause[] {
  const field = `${at}.conversionReviewVersions`;
  if (!Array.isArray(versions) || versions.length === 0) return [requiredCause(field)];
  return versions.includes('v1') ? [] : [invalidCause(field, versions, 'must include at least one of v1')];
}

function schemaCauses(version: JsonObject, path: string): StatusCause[] {
  const schema = objectAt(version, 'schema')['openAPIV3Schema'];
  const field = `${path}.openAPIV3Schema`;
  return isObject(schema) ? structuralCauses(schema, field) : [requiredCause(field, 'schemas are required')];
}

function objectAt(value: JsonObject, key: string): JsonObject {
  const found = value[key];
  return isObject(found) ? found : {};
}
