// The plugin `user-preferences`: how users want to be addressed. Agents record it, users read it.

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
  customInstructions: text(2_000, 'Other instructions of the user'),
};

/** The tool's fields: null removes one. */
const PREFERENCE_FIELDS = Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, { anyOf: [field, { type: 'null' }] }]),
);

/** The user's view. */
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

/** The preferences of a user. */
export async function readPreferences({ documents }: Deps, did: string): Promise<Preferences | undefined> {
  return (await documents.get<Preferences>(KIND, did))?.body;
}

/** Keeps fields that `changes` leaves out; null removes one. Concurrent changes are both kept. */
export async function mergePreferences(
  { documents, clock }: Deps,
  { did, changes }: { readonly did: string; readonly changes: JsonObject },
): Promise<Preferences> {
  const merged = await update<Preferences>(documents, KIND, did, (preferences) => {
    const all = { ...preferences, ...changes, updatedAt: new Date(clock.now()).toISOString() };
    return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null)) as Preferences;
  });
  // The change always returns a body.
  return (merged as Extract<typeof merged, { kind: 'updated' }>).document.body;
}

export function userPreferencesPlugin(): Plugin {
  return {
    name: 'user-preferences',
    version: '1.0.0',
    kinds: [KIND],
    documentation: {
      description: 'How users want to be addressed. The agent records it with the tool `set_user_preferences`.',
    },
    routes: [
      {
        method: 'GET',
        path: '/user-preferences',
        id: 'getUserPreferences',
        summary: 'Your preferences',
        answers: { 200: jsonAnswer('The preferences, or null', { anyOf: [SHOWN, { type: 'null' }] }) },
        async handle(koa, ctx) {
          // Koa answers a null body with 204.
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

function describePreferences(preferences: JsonObject | undefined): string | undefined {
  if (!preferences) return undefined;
  return Object.entries(WORDS)
    .flatMap(([field, words]) =>
      preferences[field] === undefined ? [] : [`${words} ${JSON.stringify(preferences[field])}.`],
    )
    .join('\n');
}
