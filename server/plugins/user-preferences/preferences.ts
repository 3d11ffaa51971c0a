// Preferences as they are stored, one document for each user.

import type { JsonObject, Kind } from '../../../lib/store/store.ts';
import { update } from '../../../lib/store/update.ts';
import type { PluginHost } from '../plugin.ts';

export type Preferences = JsonObject & {
  readonly agentName?: string;
  readonly userName?: string;
  readonly language?: string;
  readonly tone?: string;
  readonly formality?: string;
  readonly customInstructions?: string;
  /** RFC 3339. */
  readonly updatedAt: string;
};

export const KIND: Kind = { name: 'plugin-user-preferences-user', indexes: {} };

type Deps = Pick<PluginHost, 'documents' | 'clock'>;

/** What is known of a user. */
export async function preferencesOf({ documents }: Deps, did: string): Promise<Preferences | undefined> {
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
  // `change` always gives a body.
  return (merged as Extract<typeof merged, { kind: 'updated' }>).document.body;
}
