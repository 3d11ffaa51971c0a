// Routes for the page of the studio only, POST with a few common fields, and the dependencies of their handlers.

import type { Context } from 'koa';
import type { Services } from '../../../lib/engine/service.ts';
import type { FlowOperation } from '../../../lib/flow/editing/operations.ts';
import { screenTypes } from '../../../lib/flow/format/schema.ts';
import type { JsonObject } from '../../../lib/json/json.ts';
import type { Schema } from '../../../lib/json/schema.ts';
import type { AuditAction } from '../../audit/audit.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import type { Route, RouteAnswer } from '../../http/route-table.ts';
import type { DialChoice } from '../../menus/dialled.ts';
import type { FlowFiles } from '../../menus/files.ts';
import type { MenuHome } from '../../menus/home.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { PAGE_LIMITS } from '../limits.ts';
import type { PreviewDeps } from '../preview/routes.ts';
import { DIALOGUE_INPUTS, type ServiceRecorder } from '../simulator/flow-test.ts';
import type { Drafts } from './drafts.ts';
import type { Versions } from './versions.ts';

/** A write by an operator: the flow, and which files. */
export interface MenuEdit {
  readonly by: string;
  readonly flow: string;
  readonly wrote: readonly ('flow' | 'tests' | 'draft')[];
}

export type NoteEdit = (edit: MenuEdit) => Promise<void>;

/** Notes in the audit log what an operator does with a flow, before it is done. */
export type NoteDeed = (
  action: Extract<AuditAction, `menus.${string}`>,
  by: string,
  details: JsonObject,
) => Promise<void>;

export interface StudioDeps {
  readonly files: FlowFiles;
  readonly drafts: Drafts;
  readonly previews: PreviewDeps;
  /** How others reach this server. @default as the operator does */
  readonly publicUrl: string | undefined;
  readonly versions: Versions;
  readonly drawings: Pick<Drawings, 'draw'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  readonly home: MenuHome;
  /** What a dial starts. */
  readonly dialled: DialChoice;
  /** The flow that answers chats. */
  readonly chatFlow: string;
  readonly services: Services;
  /** Whether a save keeps a draft; else it publishes. */
  readonly savesDrafts: boolean;
  /** Whether dialled drafts call services. */
  readonly callsServices: boolean;
  /** Notes a write in the audit log before it happens. If it rejects, nothing is written. */
  readonly noteEdit: NoteEdit;
  readonly note: NoteDeed;
  /** Reloads the saved files; resolves when they are served or refused. */
  readonly reload: () => Promise<void>;
}

const EXAMPLE_FLOW = JSON.stringify({
  flow: 'hello',
  version: 1,
  start: 'hello',
  screens: {
    hello: { type: 'menu', text: 'Hello.', options: [{ id: 'leave', text: 'Leave', to: 'bye' }] },
    bye: { type: 'end', text: 'Goodbye.' },
  },
});
const EXAMPLE_TESTS = JSON.stringify({
  flow: 'hello',
  tests: [
    {
      name: 'A dial',
      steps: [
        { in: '', screen: 'hello' },
        { in: '1', screen: 'bye' },
      ],
    },
  ],
});

const NAME: Schema = { type: 'string', maxLength: 1_000 };
/** A {@link FlowOperation}; each needs some of these. */
const OPERATION = {
  type: 'object',
  description: 'An edit of the flow',
  required: ['do'],
  additionalProperties: false,
  properties: {
    do: { enum: ['set', 'insert', 'move', 'key', 'lines', 'way', 'declare', 'add', 'rename', 'delete', 'duplicate'] },
    ...{ pointer: NAME, name: NAME, screen: NAME, to: NAME, when: NAME, lead: NAME, id: NAME, after: NAME, way: NAME },
    ...{ text: NAME, line: NAME, service: NAME, flow: NAME, items: NAME },
    at: { type: 'integer', minimum: 0, maximum: 20_000 },
    by: { enum: [-1, 1] },
    value: { description: 'Any JSON' },
    lines: { type: 'array', items: NAME, maxItems: 500 },
    type: { enum: screenTypes() },
    answer: { enum: ['text', 'number', 'pin', 'phone', 'date'] },
  },
} as const satisfies Schema;

/** Fields of requests; each route names the ones it needs. */
const FIELDS = {
  flow: { type: 'string', description: 'The name of the flow', examples: ['hello'] },
  text: { type: 'string', description: 'The text in the editor', examples: [EXAMPLE_FLOW] },
  tests: { type: 'string', description: 'The text of its tests', examples: [EXAMPLE_TESTS] },
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Position of the cursor in UTF-16 units',
    examples: [2],
  },
  focus: { type: 'string', description: 'The path of a state around which to draw', examples: ['hello'] },
  update: { type: 'boolean', description: 'Replace expectations with the actual results', examples: [false] },
  base: { type: 'string', description: 'Hash of the text that was read', examples: [''] },
  testsBase: {
    type: 'string',
    description: 'Hash of the tests that were read; "" if there were none',
    examples: [''],
  },
  publishedBase: {
    type: 'string',
    description: 'Hash of the published text that was read; "" if there is none',
    examples: [''],
  },
  asDraft: { type: 'boolean', description: 'Keep a draft, and publish nothing', examples: [true] },
  hours: {
    type: 'integer',
    minimum: 1,
    maximum: PAGE_LIMITS.previewHours,
    description: 'How long the link lives',
    examples: [24],
  },
  to: { type: 'string', description: 'The new name', examples: ['greeting'] },
  version: { type: 'string', description: 'The id of a version', examples: ['4c73552dbf8a4343'] },
  starter: {
    type: 'string',
    description: 'Name of the starter; "" where `text` is what the flow begins with',
    examples: ['menu'],
  },
  sessionId: { type: 'string', description: 'The session of a phone', examples: ['example-1'] },
  phoneNumber: { type: 'string', description: 'E.164 with +', examples: ['+260971230001'] },
  serviceCode: { type: 'string', description: 'The dialled code', examples: ['*2233#'] },
  name: { type: 'string', description: 'The name of a test', examples: ['Another dial'] },
  inputs: { ...DIALOGUE_INPUTS, examples: [['']] },
  typed: { type: 'string', description: 'All input so far, joined by *', examples: [''] },
  pointer: { type: 'string', description: 'A JSON pointer to a screen; "" for the flow', examples: ['/screens/hello'] },
  operation: { ...OPERATION, examples: [{ do: 'set', pointer: '/screens/bye/text', value: 'Bye.' }] },
} as const satisfies { readonly [name: string]: Schema };

type Field = keyof typeof FIELDS;
type FieldValue<Name extends Field> = Name extends 'operation'
  ? FlowOperation
  : (typeof FIELDS)[Name] extends { type: 'integer' }
    ? number
    : (typeof FIELDS)[Name] extends { type: 'boolean' }
      ? boolean
      : (typeof FIELDS)[Name] extends { type: 'array' }
        ? readonly string[]
        : string;
export type Body<Needed extends Field, Optional extends Field> = { readonly [Name in Needed]: FieldValue<Name> } & {
  readonly [Name in Optional]?: FieldValue<Name>;
};

interface StudioRequest<Needed extends Field, Optional extends Field> {
  readonly id: string;
  readonly summary: string;
  readonly needs: readonly Needed[];
  readonly takes?: readonly Optional[];
  readonly answers?: { readonly [status: number]: RouteAnswer };
  handle(ctx: Context, body: Body<Needed, Optional>, deps: StudioDeps): unknown;
}

/** A route for the page only: POST with the named fields. */
export function pageRequest<Needed extends Field, Optional extends Field = never>(
  path: string,
  { needs, takes = [], handle, answers, ...about }: StudioRequest<Needed, Optional>,
): Route<StudioDeps> {
  const names = [...needs, ...takes];
  const properties = Object.fromEntries(names.map((name) => [name, FIELDS[name]]));
  return {
    ...about,
    method: 'POST',
    path,
    ownPages: true,
    body: {
      types: jsonTypes({ type: 'object', required: [...needs], properties }),
      example: Object.fromEntries(needs.map((name) => [name, FIELDS[name].examples[0]])),
      maxBytes: PAGE_LIMITS.studioBytes,
    },
    answers: {
      200: { description: 'The result', types: jsonTypes({ type: 'object' }) },
      ...JSON_BODY_ANSWERS,
      ...answers,
    },
    handle: (ctx, deps) => handle(ctx, readInput<{ body: Body<Needed, Optional> }>(ctx).body, deps),
  };
}
