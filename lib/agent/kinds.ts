// The kinds of documents of the agent service, declared once: they serve every backend.

import type { Kind } from '../store/store.ts';

/** Chat sessions by id. */
export const SESSION: Kind = {
  name: 'agent-session',
  indexes: {
    owner: { fields: ['owner', 'updated'] },
    deleted: { fields: ['deletedAt'] },
    // For the retention of unused sessions.
    idle: { fields: ['updated'] },
  },
};

/** What users have sent today, by DID. */
export const USAGE: Kind = { name: 'agent-usage', indexes: { day: { fields: ['day'] } } };

/** Messages by id, in the order of their places. */
export const MESSAGE: Kind = {
  name: 'agent-message',
  indexes: { session: { fields: ['session', 'place'], unique: true } },
};

/** The rest of messages that one document cannot hold. */
export const MESSAGE_PIECE: Kind = { name: 'agent-message-piece', indexes: { session: { fields: ['session'] } } };

/** Runs by id: one message of a user being answered. */
export const RUN: Kind = {
  name: 'agent-run',
  indexes: {
    // One run of a session is live: the field is null while it stands in line and once it has ended.
    live: { fields: ['liveFor'], unique: true },
    open: { fields: ['openFor', 'turn'] },
    session: { fields: ['session', 'turn'] },
    wake: { fields: ['wakeAt'] },
  },
};

/** Tokens that count once and were used, by the keys of their signed content. Kept until they would have expired. */
export const SPENT_TOKEN: Kind = { name: 'agent-spent-token', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Declare these before the first use. */
export const AGENT_KINDS: readonly Kind[] = [SESSION, USAGE, MESSAGE, MESSAGE_PIECE, RUN, SPENT_TOKEN];
