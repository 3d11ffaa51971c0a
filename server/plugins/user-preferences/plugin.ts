// The plugin `user-preferences`: how users want to be talked to. Agents write it down, users read it.

import type { JsonObject } from '../../../lib/json/json.ts';
import type { Kind } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import { jsonAnswer } from '../../user/errors.ts';
import type { Plugin, PluginHost } from '../plugin.ts';

const MANNERS = ['casual', 'friendly', 'neutral', 'semi-formal', 'professional', 'formal', 'technical', 'academic'];

const text = (maxLength: number, description: string) => ({ type: 'string', minLength: 1, maxLength, description });
const manner = (description: string) => ({ type: 'string', enum: MANNERS, description });

const FIELDS = {
  agentName: text(80, 'What the user calls the agent'),
  userName: text(80, 'What the user wants to be called'),
  language: text(20, 'The language to answer in, such as en or sw'),
  tone: manner('The tone to use'),
  formality: manner('How formal to be'),
  customInstructions: text(2_000, 'What else the user wants to be heeded'),
};

/** The fields as a tool takes them: null removes one. */
const PREFERENCE_FIELDS = Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, { anyOf: [field, { type: 'null' }] }]),
);

/** What a user reads. */
const SHOWN = {
  type: 'object',
  description: 'Preferences of a user',
  properties: { ...FIELDS, updatedAt: { type: 'string', format: 'date-time' } },
};

export type Preferences = JsonObject & { readonly [field in keyof typeof FIELDS]?: string } & {
  /** RFC 3339. */
  readonly updatedAt: string;
};

export const KIND: Kind = { name: 'plugin-user-preferences-user', indexes: {} };

type Deps = Pick<PluginHost, 'documents' | 'clock'>;

/** What is known of a user. */
export async function readPreferences({ documents }: Deps, did: string): Promise<Preferences | undefined> {
  return (await documents.get<Preferences>(KIND, did))?.body;
}

/** Fields that are not in `changes` stay, null removes one; of two writers at once both count. */
export async function mergePreferences(
  { documents, clock }: Deps,
  { did, changes }: { readonly did: string; readonly changes: JsonObject },
): Promise<Preferences> {
  const merged = await update<Preferences>(documents, KIND, did, (known) => {
    const all = { ...known, ...changes, updatedAt: new Date(clock.now()).toISOString() };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Preferences;
  });
  // The change always gives a body.
  return (merged as Extract<typeof merged, { kind: 'updated' }>).document.body;
}

export function userPreferencesPlugin(): Plugin {
  return {
    name: 'user-preferences',
    version: '1.0.0',
    kinds: [KIND],
    documentation: {
      description: 'How users want to be talked to. The agent writes it down with the tool `set_user_preferences`.',
    },
    routes: [
      {
        method: 'GET',
        path: '/user-preferences',
        id: 'getUserPreferences',
        summary: 'What is known of how you want to be talked to',
        answers: { 200: jsonAnswer('The preferences, or null', { anyOf: [SHOWN, { type: 'null' }] }) },
        async handle(koa, ctx) {
          // Koa takes null for an empty answer.
          koa.type = 'application/json';
          koa.body = JSON.stringify((await readPreferences(ctx, ctx.requireDid())) ?? null);
        },
      },
    ],
    tools: [
      {
        name: 'get_user_preferences',
        description: 'Reads how the user wants to be addressed and answered; null when nothing is known.',
        schema: { type: 'object', additionalProperties: false },
        handler: async (_args, ctx) => (await readPreferences(ctx, ctx.requireDid())) ?? null,
      },
      {
        name: 'set_user_preferences',
        description:
          'Writes down how the user wants to be addressed and answered. Fields that are left out stay as they are; null removes one.',
        schema: { type: 'object', properties: PREFERENCE_FIELDS, additionalProperties: false, minProperties: 1 },
        handler: (changes, ctx) => mergePreferences(ctx, { did: ctx.requireDid(), changes }),
      },
    ],
    instructions: async (ctx) => describePreferences(await readPreferences(ctx, ctx.requireDid())),
  };
}

const WORDS: { readonly [field in keyof Preferences]?: string } = {
  agentName: 'The user calls you',
  userName: 'The user is called',
  language: 'Answer in the language',
  tone: 'The tone to use:',
  formality: 'The formality to use:',
  customInstructions: 'The user asks you to heed this:',
};

function describePreferences(known: JsonObject | undefined): string | undefined {
  if (!known) return undefined;
  return Object.entries(WORDS)
    .flatMap(([field, words]) => (known[field] === undefined ? [] : [`${words} ${JSON.stringify(known[field])}.`]))
    .join('\n');
}
