/** A choice of objects by their labels, as Kubernetes writes it. */
import type { LabelSelector } from '../../base/selectors.ts';
import { list, mapOf, object, oneOf, optional, text, typedAs } from '../schema/dsl.ts';

/** The schema of a selector; the description says what is chosen. */
export function labelSelectorSchema(description: string) {
  return typedAs<LabelSelector>(
    object(description, {
      matchLabels: optional(mapOf('Labels that must be there with these values.', text('The value.'))),
      matchExpressions: optional(
        list(
          'Finer rules; all of them must hold.',
          object('One rule about one label.', {
            key: text('The label.'),
            operator: oneOf('What must hold of it.', ['In', 'NotIn', 'Exists', 'DoesNotExist']),
            values: optional(list('The values for In and NotIn.', text('A value.'))),
          }),
        ),
      ),
    }),
  );
}
