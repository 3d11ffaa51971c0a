// The documentation itself, as OpenAPI describes it.

import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { PLAIN_ANSWERS, UNKNOWN } from '../../http/common-answers.ts';
import type { RouteGroup } from '../../http/route-table.ts';

const TEXT: Schema = { type: 'string' };
const PAGE = { description: 'The page', types: { 'text/html': TEXT } };
const FILES = { 'text/css': TEXT, 'text/javascript': TEXT };
const NAME = { description: 'The name of a file', schema: TEXT };
const SAME = { description: 'What you have is what there is' };

const OPENAPI: Schema = {
  type: 'object',
  required: ['openapi', 'paths'],
  properties: { openapi: { const: '3.1.1' }, paths: { type: 'object' } },
  additionalProperties: true,
};

export const DOCS_PART: RouteGroup = {
  tag: 'Documentation',
  owns: ['/docs', '/pages'],
  description: 'What you are reading. Nobody needs a key.',
  parameters: { file: NAME, name: { description: 'As the list of them names it', schema: TEXT } },
  answers: { 429: PLAIN_ANSWERS[429] },
  routes: [
    {
      method: 'GET',
      path: '/openapi.json',
      id: 'getOpenApi',
      summary: 'This document',
      answers: {
        200: {
          description: 'An OpenAPI document',
          types: { 'application/json': OPENAPI },
        },
        304: SAME,
      },
    },
    {
      method: 'GET',
      path: '/docs',
      id: 'getDocs',
      summary: 'This document as a page',
      answers: { 200: PAGE, 503: { ...PAGE, description: 'The page was not built' } },
    },
    { method: 'GET', path: '/docs/errors', id: 'getErrors', summary: 'What each error means', answers: { 200: PAGE } },
    {
      method: 'GET',
      path: '/docs/errors/:name',
      id: 'getError',
      summary: 'What one error means',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such error' } },
    },
    { method: 'GET', path: '/docs/guides', id: 'getGuides', summary: 'All guides', answers: { 200: PAGE } },
    {
      method: 'GET',
      path: '/docs/guides/:name',
      id: 'getGuide',
      summary: 'A guide',
      answers: { 200: PAGE, 404: { ...PAGE, description: 'There is no such guide' } },
    },
    {
      method: 'GET',
      path: '/docs/flow-format',
      id: 'getFlowFormat',
      summary: 'Every key of a flow file',
      answers: { 200: PAGE },
    },
    {
      method: 'GET',
      path: '/docs/:file',
      id: 'getDocsFile',
      summary: 'What the page of the documentation is made of',
      answers: { 200: { description: 'The file', types: FILES }, 304: SAME, 404: UNKNOWN },
    },
    {
      method: 'GET',
      path: '/pages/:file',
      id: 'getPageFile',
      summary: 'The style and the script of pages',
      answers: { 200: { description: 'The file', types: FILES }, 304: SAME, 404: UNKNOWN },
    },
  ],
};
