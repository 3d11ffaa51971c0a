// Document kinds of the agent service, shared by all backends.

import type { Kind } from '../store/store.ts';

/** Chat sessions by id. */
export const SESSION: Kind = {
  name: 'agent-session',
  indexes: {
    owner: { fields: ['owner', 'updated'] },
    deleted: { fields: ['deletedAt'] },
    // For deleting unused sessions.
    idle: { fields: ['updated'] },
  },
};

/** Bytes sent today, by user DID. */
export const USAGE: Kind = { name: 'agent-usage', indexes: { day: { fields: ['day'] } } };

/** Messages by id, ordered by place. */
export const MESSAGE: Kind = {
  name: 'agent-message',
  indexes: { session: { fields: ['session', 'place'], unique: true } },
};

/** Pieces of messages too large for one document. */
export const MESSAGE_PIECE: Kind = { name: 'agent-message-piece', indexes: { session: { fields: ['session'] } } };

/** Runs by id. A run answers one message of a user. */
export const RUN: Kind = {
  name: 'agent-run',
  indexes: {
    // Enforces one live run per session: null while the run is queued and after it has ended.
    live: { fields: ['liveFor'], unique: true },
    open: { fields: ['openFor', 'turn'] },
    session: { fields: ['session', 'turn'] },
    wake: { fields: ['wakeAt'] },
  },
};

/** Used single-use tokens, keyed by a hash of the signed content; kept until they would have expired. */
export const SPENT_TOKEN: Kind = { name: 'agent-spent-token', indexes: { expiry: { fields: ['expiresAt'] } } };

/** Declare these before the first use. */
export const AGENT_KINDS: readonly Kind[] = [SESSION, USAGE, MESSAGE, MESSAGE_PIECE, RUN, SPENT_TOKEN];
