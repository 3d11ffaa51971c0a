// The fields of a user's preferences, as JSON Schemas: they check what is written, and document what is read.

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
export const PREFERENCE_FIELDS = Object.fromEntries(
  Object.entries(FIELDS).map(([name, field]) => [name, { anyOf: [field, { type: 'null' }] }]),
);

/** What a user reads. */
export const SHOWN = {
  type: 'object',
  description: 'Preferences of a user',
  properties: { ...FIELDS, updatedAt: { type: 'string', format: 'date-time' } },
};
