// Routes that only the page of the studio asks: POST with some of a few fields; and what its handlers are given.

import type { Context } from 'koa';
import type { Schema } from '../../../lib/domain/schema/parts.ts';
import { readInput } from '../../http/check-input.ts';
import { JSON_BODY_ANSWERS, jsonTypes } from '../../http/common-answers.ts';
import type { Route, RouteAnswer } from '../../http/route-table.ts';
import type { FlowFiles } from '../../menus/files.ts';
import type { Drawings } from '../diagram/drawings.ts';
import { PAGE_LIMITS } from '../limits.ts';
import { DIALOGUE_INPUTS, type ServiceRecorder } from '../simulator/flow-test.ts';
import type { Drafts } from './drafts.ts';
import type { Versions } from './versions.ts';

export interface StudioDeps {
  readonly files: FlowFiles;
  readonly drafts: Drafts;
  readonly versions: Versions;
  readonly drawings: Pick<Drawings, 'draw'>;
  readonly recorder: Pick<ServiceRecorder, 'answers'>;
  /** The flow that a dial starts. */
  readonly flow: string;
  /** Whether drafts that are dialled call the services. */
  readonly callsServices: boolean;
  /** Serves what was saved; resolves when that is so, or was refused. */
  readonly reload: () => Promise<void>;
}

const TEXT: Schema = { type: 'string' };

/** What requests of the page have: each route names those that it needs. */
const FIELDS = {
  flow: { type: 'string', description: 'The name of the flow' },
  text: { type: 'string', description: 'The text in the editor' },
  tests: { type: 'string', description: 'The text of its tests' },
  offset: {
    type: 'integer',
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Where the cursor is, in UTF-16 units',
  },
  focus: { type: 'string', description: 'The path of a state around which to draw' },
  update: { type: 'boolean', description: 'Write what the tests show now into them' },
  base: { type: 'string', description: 'The hash of the text that was read' },
  testsBase: { type: 'string', description: 'The hash of the tests that were read; "" where there were none' },
  starter: { type: 'string', description: 'What it begins with' },
  sessionId: { type: 'string', description: 'The session of a phone' },
  phoneNumber: { type: 'string', description: 'E.164 with +' },
  serviceCode: TEXT,
  name: { type: 'string', description: 'The name of a test' },
  inputs: DIALOGUE_INPUTS,
  typed: { type: 'string', description: 'What was typed so far, joined by *' },
} as const satisfies { readonly [name: string]: Schema };

type Field = keyof typeof FIELDS;
type FieldValue<Name extends Field> = (typeof FIELDS)[Name] extends { type: 'integer' }
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

/** A route that only the page asks: POST with the fields that it names. */
export function asked<Needed extends Field, Optional extends Field = never>(
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
    body: { types: jsonTypes({ type: 'object', required: [...needs], properties }), maxBytes: PAGE_LIMITS.studioBytes },
    answers: {
      200: { description: 'What was found', types: jsonTypes({ type: 'object' }) },
      ...JSON_BODY_ANSWERS,
      ...answers,
    },
    handle: (ctx, deps) => handle(ctx, readInput<{ body: Body<Needed, Optional> }>(ctx).body, deps),
  };
}
