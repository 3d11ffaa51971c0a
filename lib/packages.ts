// Packages that take long to load, loaded by the first call that needs one: who imports the engine does not wait for them. Each of
// these has a build that can be required, so that callers need not be asynchronous.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

export const requireAjv = (): typeof import('ajv') => require('ajv');
export const requireAjv2020 = (): typeof import('ajv/dist/2020.js') => require('ajv/dist/2020.js');
export const requireAjvFormats = (): typeof import('ajv-formats') => require('ajv-formats');
export const requireMomoa = (): typeof import('@humanwhocodes/momoa') => require('@humanwhocodes/momoa');
export const requireRe2 = (): typeof import('re2js') => require('re2js');
