/** The environment of a container of an ordinary image: the image's, the cluster's, that of ConfigMaps and Secrets, then the spec's own. */
import { CONFIG_MAPS } from '../../../api/core/configmap.ts';
import type { Container, EnvVar } from '../../../api/core/pod.ts';
import { SECRETS } from '../../../api/core/secret.ts';
import { ApiError } from '../../../base/errors.ts';
import { parseQuantity } from '../../../base/quantity.ts';
import type { Client } from '../../../client/client.ts';
import { environmentOf, type FieldSource } from '../environment.ts';

export type EnvironmentOptions = {
  readonly container: Container;
  readonly fields: FieldSource;
  readonly client: Client;
  /** What stands before the spec: of the image and of the cluster. */
  readonly inherited: Readonly<Record<string, string>>;
};
type Data = Readonly<Record<string, string>>;

/** Throws with the name of what is not there, as upstream does before it makes a container. */
export async function nativeEnvironment(options: EnvironmentOptions): Promise<Record<string, string>> {
  const { container, fields, inherited } = options;
  let environment: Record<string, string> = { ...inherited };
  for (const { prefix = '', configMapRef, secretRef } of container.envFrom ?? []) {
    const data = configMapRef
      ? await configMapData(configMapRef.name, configMapRef.optional, options)
      : secretRef
        ? await secretData(secretRef.name, secretRef.optional, options)
        : {};
    for (const [name, value] of Object.entries(data ?? {})) environment[`${prefix}${name}`] = value;
  }
  for (const variable of container.env ?? []) {
    const known = await referredValue(variable, options);
    if (known === 'absent') continue;
    if (known) environment[variable.name] = known.value;
    else environment = environmentOf({ ...container, env: [variable] }, fields, environment);
  }
  return environment;
}

/** The value behind a reference to another object; undefined for a variable that is none. */
async function referredValue({ name, valueFrom }: EnvVar, options: EnvironmentOptions): Promise<{ value: string } | 'absent' | undefined> {
  const { configMapKeyRef, secretKeyRef, resourceFieldRef } = valueFrom ?? {};
  if (resourceFieldRef) return { value: resourceOf(resourceFieldRef, options) };
  const ref = configMapKeyRef ?? secretKeyRef;
  if (!ref) return undefined;
  const data = configMapKeyRef ? await configMapData(ref.name, ref.optional, options) : await secretData(ref.name, ref.optional, options);
  const value = data?.[ref.key];
  if (value !== undefined) return { value };
  if (ref.optional) return 'absent';
  throw new ApiError(
    'NotFound',
    `environment variable ${name}: couldn't find key ${ref.key} in ${configMapKeyRef ? 'ConfigMap' : 'Secret'} ${ref.name}`,
  );
}

async function configMapData(
  name: string,
  isOptional: boolean | undefined,
  { client, fields }: EnvironmentOptions,
): Promise<Data | undefined> {
  const found = await client.get(CONFIG_MAPS, { namespace: fields.pod.metadata.namespace, name });
  if (!found && !isOptional) throw new ApiError('NotFound', `configmap "${name}" not found`);
  return found?.data ?? {};
}

async function secretData(
  name: string,
  isOptional: boolean | undefined,
  { client, fields }: EnvironmentOptions,
): Promise<Data | undefined> {
  const found = await client.get(SECRETS, { namespace: fields.pod.metadata.namespace, name });
  if (!found && !isOptional) throw new ApiError('NotFound', `secret "${name}" not found`);
  return Object.fromEntries(Object.entries(found?.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** A request or limit of this container, in units of the divisor, rounded up. */
function resourceOf(
  { resource, divisor = '1' }: { readonly resource: string; readonly divisor?: string },
  { container }: EnvironmentOptions,
): string {
  const [kind = '', name = ''] = resource.split('.');
  const amounts = kind === 'limits' ? container.resources?.limits : kind === 'requests' ? container.resources?.requests : undefined;
  const unit = parseQuantity(divisor === '0' ? '1' : divisor) ?? 1;
  return String(Math.ceil((parseQuantity(amounts?.[name] ?? '0') ?? 0) / unit));
}
