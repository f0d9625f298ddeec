/** Columns that several kinds are listed with. */
import type { PrinterColumn } from '../kind.ts';

export const AGE: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };

/** Where the status of a condition is found. */
export function conditionPath(type: string): string {
  return `.status.conditions[?(@.type=='${type}')].status`;
}
