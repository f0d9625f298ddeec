/** What commands about one node take. */
import type { Context } from '../context.ts';
import { text } from '../parameters.ts';

/** One node, by name; names of real ones are proposed to a shell that completes. */
export const nodeName = {
  kind: 'tuple',
  parameters: [
    {
      ...text,
      brief: 'Name of the node',
      placeholder: 'NAME',
      async proposeCompletions(this: Context, partial: string): Promise<readonly string[]> {
        return (await import('../complete/names.ts')).nodeNames(this, partial);
      },
    },
  ],
} as const;
