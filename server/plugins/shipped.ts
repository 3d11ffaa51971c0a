// The plugins that come with Twinline, by the names that PLUGINS knows them by.

import { claimsPlugin } from './claims/plugin.ts';
import { creditsPlugin } from './credits/plugin.ts';
import type { Plugin } from './plugin.ts';
import type { ShippedSettings } from './settings.ts';
import { teamChatPlugin } from './team-chat/plugin.ts';
import { userPreferencesPlugin } from './user-preferences/plugin.ts';

/** Each makes a plugin; throws ERR_CONFIG when a setting is missing that it needs. */
export const SHIPPED = {
  credits: ({ credits }) => creditsPlugin(credits),
  'user-preferences': () => userPreferencesPlugin(),
  'team-chat': ({ teamChat }) => teamChatPlugin(teamChat),
  claims: ({ claims }) => claimsPlugin(claims),
} as const satisfies { readonly [name: string]: (settings: ShippedSettings) => Plugin };
