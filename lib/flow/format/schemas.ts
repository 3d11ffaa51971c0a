// The JSON Schemas of flows and of their tests, as they stand in `menus`. The build writes them into this module.

import flow from '../../../menus/flow.schema.json' with { type: 'json' };
import test from '../../../menus/test.schema.json' with { type: 'json' };

/** `flow` for `menus/flow.schema.json`. */
export type SchemaName = 'flow' | 'test';

export const SCHEMAS: { readonly [name in SchemaName]: object } = { flow, test };
