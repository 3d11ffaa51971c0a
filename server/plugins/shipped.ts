// The plugins that come with Twinline, by the names that PLUGINS knows them by.

import { type ClaimsSettings, claimsPlugin } from './claims/plugin.ts';
import { type CreditsSettings, creditsPlugin } from './credits/plugin.ts';
import type { Plugin } from './plugin.ts';
import { type TeamChatSettings, teamChatPlugin } from './team-chat/plugin.ts';
import { userPreferencesPlugin } from './user-preferences/plugin.ts';

/** What they are set to. */
export interface ShippedSettings {
  readonly credits: CreditsSettings;
  readonly teamChat: TeamChatSettings;
  readonly claims: ClaimsSettings;
}

/** Each makes a plugin; throws ERR_CONFIG when a setting is missing that it needs. */
export const SHIPPED = {
  credits: ({ credits }) => creditsPlugin(credits),
  'user-preferences': () => userPreferencesPlugin(),
  'team-chat': ({ teamChat }) => teamChatPlugin(teamChat),
  claims: ({ claims }) => claimsPlugin(claims),
} as const satisfies { readonly [name: string]: (settings: ShippedSettings) => Plugin };
