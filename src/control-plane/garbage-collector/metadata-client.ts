/** The same client, asking for nothing but metadata: who owns whom is all the garbage collector reads. */
import { type Client, createClient } from '../../client/client.ts';

/** For reading only. A server that cannot leave out the rest sends whole objects, which do as well. */
export function metadataClient(client: Client): Client {
  return createClient({
    baseUrl: 'http://metadata', // only its path is used
    userAgent: 'garbage-collector',
    fetch: ({ url, signal }) => {
      const { pathname, search, searchParams } = new URL(url);
      const isList = searchParams.get('watch') !== 'true';
      const accept = `application/json;as=PartialObjectMetadata${isList ? 'List' : ''};v=v1;g=meta.k8s.io,application/json`;
      return client.request(`${pathname}${search}`, { headers: { accept }, signal });
    },
  });
}
