// The plugin `user-preferences`: how users want to be talked to. Agents write it down, users read it.

import type { JsonObject } from '../../../lib/store/store.ts';
import type { Plugin } from '../plugin.ts';
import { PREFERENCE_FIELDS, SHOWN } from './fields.ts';
import { KIND, mergePreferences, type Preferences, preferencesOf } from './preferences.ts';

export function userPreferencesPlugin(): Plugin {
  return {
    name: 'user-preferences',
    version: '1.0.0',
    kinds: [KIND],
    routes(router, ctx) {
      router.get('/user-preferences', async (koa) => {
        // Koa takes null for an empty answer.
        koa.type = 'application/json';
        koa.body = JSON.stringify((await preferencesOf(ctx, ctx.requireDid())) ?? null);
      });
    },
    documentation: {
      description: 'How users want to be talked to. The agent writes it down with the tool `set_user_preferences`.',
      routes: [
        {
          method: 'GET',
          path: '/user-preferences',
          id: 'getUserPreferences',
          summary: 'What is known of how you want to be talked to',
          answers: {
            200: {
              description: 'The preferences, or null',
              types: { 'application/json': { anyOf: [SHOWN, { type: 'null' }] } },
            },
          },
        },
      ],
    },
    tools: [
      {
        name: 'get_user_preferences',
        description: 'Reads how the user wants to be addressed and answered; null when nothing is known.',
        schema: { type: 'object', additionalProperties: false },
        handler: async (_args, ctx) => (await preferencesOf(ctx, ctx.requireDid())) ?? null,
      },
      {
        name: 'set_user_preferences',
        description:
          'Writes down how the user wants to be addressed and answered. Fields that are left out stay as they are; null removes one.',
        schema: { type: 'object', properties: PREFERENCE_FIELDS, additionalProperties: false, minProperties: 1 },
        handler: (changes, ctx) => mergePreferences(ctx, { did: ctx.requireDid(), changes }),
      },
    ],
    instructions: async (ctx) => wordsOf(await preferencesOf(ctx, ctx.requireDid())),
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

function wordsOf(known: JsonObject | undefined): string | undefined {
  if (!known) return undefined;
  return Object.entries(WORDS)
    .flatMap(([field, words]) => (known[field] === undefined ? [] : [`${words} ${JSON.stringify(known[field])}.`]))
    .join('\n');
}
