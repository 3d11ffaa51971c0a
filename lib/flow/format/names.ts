// Predefined names: variables that the server fills, and names that exist on some screens only.

export interface GivenName {
  readonly about: string;
  readonly example: string;
}

const NUMBER = { about: 'The number of the caller, E.164 with +.', example: '+263771234567' };

/** Values that each service provides about the caller. They fill variables of these names if the flow declares them. */
export const DOOR_VARIABLES = {
  phone: {
    sessionId: { about: 'The id of the session, as the telecom gateway names it.', example: 'ATUid_7f3b91' },
    phoneNumber: NUMBER,
    msisdn: NUMBER,
    serviceCode: { about: 'What was dialled.', example: '*2233#' },
  },
  chat: {
    sessionId: { about: 'The id of the chat.', example: '5f0c1e7ab2d94c6f8e3a71d0b9c2f4e6' },
    did: {
      about: 'The DID of the user who writes.',
      example: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
    },
    locale: { about: 'The language of the user, where the message names one.', example: 'en-GB' },
    timezone: { about: 'The time zone of the user, where the message names one.', example: 'Africa/Lusaka' },
  },
} as const satisfies { readonly [door: string]: { readonly [name: string]: GivenName } };

export type Door = keyof typeof DOOR_VARIABLES;
export type DoorValues<Of extends Door> = { readonly [name in keyof (typeof DOOR_VARIABLES)[Of]]: string };

/** By name. */
export const DOOR_NAMES: { readonly [name: string]: GivenName } = { ...DOOR_VARIABLES.chat, ...DOOR_VARIABLES.phone };

/** Names that exist on screens of one type only. */
export const LOCAL_NAMES = {
  row: {
    screen: 'list',
    about: 'The item of a line, in the text `row`. An item that is picked goes into the variable of `save`.',
  },
  error: { screen: 'call', about: 'Why the call has failed, in the `when` and `set` of `fail`.' },
  callbackUrl: {
    screen: 'call',
    about:
      'Where the answer of the call is posted, in the `with` of a call whose `answer` is `callback`. It is a secret.',
  },
} as const;

/** The flow that answers chats where nothing names another one. */
export const CHAT_FLOW = 'assistant';
