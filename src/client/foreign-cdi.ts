/** Whether somebody else looks after DataVolumes: a CDI has its own installation as a kind, which we have not. */
import { CDI_GROUP } from '../api/kubevirt/kinds/data-volume.ts';
import { isApiError } from '../base/errors.ts';
import type { Client } from './client.ts';

const KIND_OF_CDI = 'cdis';

/** Asked each time: one may be installed later, and then ours stays out of its way. */
export async function hasForeignCdi(client: Pick<Client, 'request'>): Promise<boolean> {
  try {
    const answer = (await (await client.request(`/apis/${CDI_GROUP}/v1beta1`)).json()) as { resources?: readonly { name: string }[] }; // as discovery has it
    return (answer.resources ?? []).some(({ name }) => name === KIND_OF_CDI);
  } catch (error) {
    if (isApiError(error, 'NotFound')) return false;
    throw error;
  }
}
