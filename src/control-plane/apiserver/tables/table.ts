/** The Table form of objects: what `kubectl get` prints, worked out by the server. */
import { isObject, type JsonObject } from '../../../base/json.ts';
import type { PrinterColumn } from '../types/resource-type.ts';
import { builtInColumns } from './built-in-columns.ts';
import { AGE, ageOf, type Cell, type Column, type ColumnType, NAME } from './column.ts';
import { findAll, parseJsonPath } from './json-path.ts';

export type TableRequest = {
  readonly resource: { readonly group: string; readonly kind: string };
  /** Columns of the CRD version; left out for built-in kinds and for CRDs that declare none. */
  readonly columns?: readonly PrinterColumn[];
  readonly objects: readonly JsonObject[];
  /** List metadata: resourceVersion, continue, remainingItemCount. */
  readonly metadata: JsonObject;
  readonly includeObject: 'Metadata' | 'Object' | 'None';
  readonly nowMs: number;
};

/** A meta.k8s.io/v1 Table with a row per object. */
export function tableFor({ resource, columns, objects, metadata, includeObject, nowMs }: TableRequest): JsonObject {
  const shown = columns && columns.length > 0 ? [NAME, ...columns.map(declaredColumn)] : builtInColumns(resource.group, resource.kind);
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata,
    columnDefinitions: shown.map(definitionOf),
    rows: objects.map((object) => ({
      cells: shown.map(({ cell }) => cell(object, nowMs)),
      ...rowObject(object, includeObject),
    })),
  };
}

function definitionOf({ name, type, format = '', description = '', priority }: Column): JsonObject {
  return { name, type, format, description, priority };
}

function rowObject(object: JsonObject, includeObject: TableRequest['includeObject']): JsonObject {
  switch (includeObject) {
    case 'None':
      return {};
    case 'Object':
      return { object };
    case 'Metadata':
      return { object: { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: object['metadata'] } };
  }
}

function declaredColumn({ name, type, format, description, priority = 0, jsonPath }: PrinterColumn): Column {
  if (jsonPath === '.metadata.creationTimestamp' && type === 'date') return { ...AGE, name, type, description, priority };
  const path = parseJsonPath(jsonPath);
  const cell = (object: JsonObject, nowMs: number): Cell => {
    const found = path ? findAll(path, object) : [];
    return found.length === 0 ? null : cellOf(type, found, nowMs);
  };
  return { name, type: columnType(type), format, description, priority, cell };
}

function columnType(type: string): ColumnType {
  return type === 'integer' || type === 'number' || type === 'boolean' || type === 'date' ? type : 'string';
}

/** Only the first result counts, except for text, where several are shown together. */
function cellOf(type: string, found: readonly unknown[], nowMs: number): Cell {
  const [first] = found;
  if (first === undefined || first === null) return null;
  switch (type) {
    case 'integer':
      return typeof first === 'number' ? Math.trunc(first) : null;
    case 'number':
      return typeof first === 'number' ? first : null;
    case 'boolean':
      return typeof first === 'boolean' ? first : null;
    case 'date':
      return ageOf(first, nowMs);
    default:
      return found.length === 1 ? textOf(first) : found.map(textOf).join(',');
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : isObject(value) || Array.isArray(value) ? JSON.stringify(value) : String(value);
}
