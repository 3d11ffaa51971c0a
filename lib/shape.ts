// Type guards for parsed values.

export const isObject = (value: unknown): value is { readonly [name: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether this is a whole number from 0 that is exact. */
export const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export const isText = (value: unknown): boolean => typeof value === 'string';

/** Whether this is a list of which every item is sound. */
export const isListWhere = (value: unknown, isSound: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(isSound);
