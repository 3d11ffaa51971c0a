// The body of an issuance of credits, as a JSON Schema.

import type { Schema } from './parts.ts';

/** An amount, and whatever else the issuer wants to keep with it. */
export const NEW_CREDIT: Schema = {
  type: 'object',
  required: ['amount'],
  properties: {
    amount: {
      type: 'string',
      // More than nothing: some digit is not 0.
      pattern: '^(?=.*[1-9])(0|[1-9][0-9]{0,29})(\\.[0-9]{1,18})?$',
      description: 'A decimal number above 0, as text: up to 30 digits, and 18 after the point',
      examples: ['12.5'],
    },
    unit: { type: 'string', maxLength: 32, examples: ['tCO2e'] },
    id: false,
    did: false,
    issuer: false,
    status: false,
    issued: false,
  },
  maxProperties: 64,
};
