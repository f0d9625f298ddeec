/** A container's environment and arguments: values, fields of the Pod, and `$(NAME)` references. */
import type { Container, EnvVar, Pod } from '../../api/core/pod.ts';
import { ApiError } from '../../base/errors.ts';

export type FieldSource = { readonly pod: Pod; readonly podIP: string; readonly hostIP: string };

/** The variables of the spec on top of `inherited`; a reference sees what stands before it. */
export function environmentOf(
  container: Container,
  source: FieldSource,
  inherited: Readonly<Record<string, string>>,
): Record<string, string> {
  const environment: Record<string, string> = { ...inherited };
  for (const variable of container.env ?? []) environment[checkedName(variable)] = variableValue(variable, source, environment);
  return environment;
}

/** Command and arguments with references filled in. */
export function argumentsOf(words: readonly string[], environment: Readonly<Record<string, string>>): string[] {
  return words.map((word) => expandVariables(word, environment));
}

/** `$(NAME)` becomes its value when there is one, `$$` becomes `$`. */
export function expandVariables(text: string, environment: Readonly<Record<string, string>>): string {
  return text.replace(/\$\$|\$\(([^()]*)\)/g, (whole, name: string | undefined) => {
    if (name === undefined) return '$';
    return Object.hasOwn(environment, name) ? (environment[name] ?? whole) : whole;
  });
}

/** The text of a downward API field; throws for one that is not offered. */
export function fieldOf(path: string, { pod, podIP, hostIP }: FieldSource): string {
  const { metadata, spec } = pod;
  const [, map, key = ''] = /^metadata\.(labels|annotations)\['([^']+)'\]$/.exec(path) ?? [];
  if (map === 'labels' || map === 'annotations') return metadata[map]?.[key] ?? '';
  const fields: Record<string, string | undefined> = {
    'metadata.name': metadata.name,
    'metadata.namespace': metadata.namespace,
    'metadata.uid': metadata.uid,
    'metadata.labels': asLines(metadata.labels),
    'metadata.annotations': asLines(metadata.annotations),
    'spec.nodeName': spec.nodeName,
    'spec.serviceAccountName': spec.serviceAccountName ?? 'default',
    'status.hostIP': hostIP,
    'status.hostIPs': hostIP,
    'status.podIP': podIP,
    'status.podIPs': podIP,
  };
  if (!Object.hasOwn(fields, path)) throw new ApiError('Invalid', `field ${JSON.stringify(path)} is not offered by the downward API`);
  return fields[path] ?? '';
}

function checkedName({ name }: EnvVar): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (name === '' || /[=\u0000-\u001f]/.test(name))
    throw new ApiError('Invalid', `${JSON.stringify(name)} is not a name for an environment variable`);
  return name;
}

function variableValue(
  { name, value = '', valueFrom }: EnvVar,
  source: FieldSource,
  environment: Readonly<Record<string, string>>,
): string {
  if (valueFrom?.fieldRef) return fieldOf(valueFrom.fieldRef.fieldPath, source);
  if (valueFrom)
    throw new ApiError(
      'Invalid',
      `environment variable ${name}: ${Object.keys(valueFrom).join(', ')} is not supported by the embedded kubelet yet`,
    );
  if (value.includes('\0')) throw new ApiError('Invalid', `environment variable ${name} contains a NUL character`);
  return expandVariables(value, environment);
}

function asLines(map: Readonly<Record<string, string>> = {}): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .join('\n');
}
