// Settings of the plugins that come with Twinline. Published types come from here: nothing in them may need Koa's.

export interface CreditsSettings {
  /** Credits for a million tokens that a model reads. */
  readonly perMillionInput: number;
  /** Credits for a million tokens that it writes. */
  readonly perMillionOutput: number;
  /** Credits for each run that finishes, besides its tokens. */
  readonly perRun: number;
  /** Held of the account while a reply is made. */
  readonly heldPerRun: number;
}

export interface TeamChatSettings {
  readonly signingSecret: string | undefined;
  readonly botToken: string | undefined;
  readonly replyUrl: string;
}

export interface ClaimsSettings {
  /** What the cron job shows as its bearer token. */
  readonly secret: string | undefined;
  /** The service that evaluates a claim: one of the modules of SERVICES. */
  readonly service: string | undefined;
}

/** What the plugins that come with Twinline are set to. */
export interface ShippedSettings {
  readonly credits: CreditsSettings;
  readonly teamChat: TeamChatSettings;
  readonly claims: ClaimsSettings;
}
