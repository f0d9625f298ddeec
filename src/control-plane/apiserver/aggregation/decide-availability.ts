/**
 * Whether an APIService can answer, in the words of the real aggregator. First match wins:
 *
 *   served here                         True   Local
 *   its Service is not there            False  ServiceNotFound
 *   no ready address for its port       False  MissingEndpoints
 *   the server does not answer          False  FailedDiscoveryCheck
 *   otherwise                           True   Passed
 */
export type Availability = { readonly status: 'True' | 'False'; readonly reason: string; readonly message: string };

export type ObservedApiService = {
  /** Undefined when the group version is served here. */
  readonly service: { readonly namespace: string; readonly name: string; readonly port: number } | undefined;
  readonly isServiceThere: boolean;
  readonly hasEndpoints: boolean;
  /** Why its discovery could not be read; undefined when it could, or when nobody asked. */
  readonly discoveryProblem: string | undefined;
};

export function decideAvailability({ service, isServiceThere, hasEndpoints, discoveryProblem }: ObservedApiService): Availability {
  if (!service) return { status: 'True', reason: 'Local', message: 'Local APIServices are always available' };
  const { namespace, name } = service;
  if (!isServiceThere) return { status: 'False', reason: 'ServiceNotFound', message: `service/${name} in "${namespace}" is not present` };
  if (!hasEndpoints) {
    const message = `endpoints for service/${name} in "${namespace}" have no addresses`;
    return { status: 'False', reason: 'MissingEndpoints', message };
  }
  if (discoveryProblem !== undefined) {
    return { status: 'False', reason: 'FailedDiscoveryCheck', message: `failing or missing response: ${discoveryProblem}` };
  }
  return { status: 'True', reason: 'Passed', message: 'all checks passed' };
}
