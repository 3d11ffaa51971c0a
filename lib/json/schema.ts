// JSON Schemas: their type, and the shapes that bodies and answers share.

/** A JSON Schema of draft 2020-12. */
export type Schema = boolean | { readonly [keyword: string]: unknown };

/** An object with these properties and no others. */
export function closedObject(
  properties: { readonly [name: string]: Schema },
  required: readonly string[] = [],
): { readonly [keyword: string]: unknown } {
  return { type: 'object', ...(required.length && { required }), properties, additionalProperties: false };
}

/** An object of which every property is always there, but for those named in `optional`. */
export function record(
  description: string,
  properties: { readonly [name: string]: Schema },
  optional: readonly string[] = [],
): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: 'object', description, properties, required };
}

/** One page of a list. */
export function page(of: Schema, description: string): Schema {
  return record(description, {
    items: { type: 'array', items: of },
    next: { type: ['string', 'null'], description: 'The `cursor` of the next page; null at the end' },
  });
}
