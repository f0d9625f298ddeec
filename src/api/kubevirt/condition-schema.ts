/** The shape of a status condition, shared by all our kinds. */
import type { Condition } from '../meta.ts';
import { listBy, object, oneOf, optional, text, time, typedAs } from '../schema/dsl.ts';

export const conditionsSchema = typedAs<readonly Condition[]>(
  listBy(
    'What is currently true of the object, one entry per type.',
    object('One fact and since when it holds.', {
      type: text('Which fact.'),
      status: oneOf('Whether it holds.', ['True', 'False', 'Unknown']),
      reason: optional(text('One word for programs: why it holds.')),
      message: optional(text('The same for people.')),
      lastProbeTime: optional(nullableTime('When it was last checked.')),
      lastTransitionTime: optional(nullableTime('When it last changed.')),
    }),
    ['type'],
  ),
);

function nullableTime(description: string) {
  return { ...time(description), nullable: true } as ReturnType<typeof time>;
}
