// Converts actions of RapidPro's nodes to steps, by type. Other types are reported and dropped.

import type { Values } from '../../format/flow.ts';
import { toTextValue, translateValue, translateWords } from '../excellent/words.ts';
import { makeName } from '../names.ts';
import { chooseService, readRequest } from '../request.ts';
import { asObject, asText, type Foreign } from '../source.ts';
import type { CallStep, Next, Step } from '../steps/step.ts';
import { makeKey, noteContact, type RapidProContext } from './context.ts';
import type { ProFlow } from './file.ts';
import { categoryValues } from './router.ts';

export interface ActionPlace {
  readonly flow: ProFlow;
  readonly context: RapidProContext;
  readonly node: string;
  /** Name of the node, for its screens. */
  readonly name: string;
  /** Key of the step after the action. */
  readonly next: Next;
  /** The step that calls another flow; undefined if that is not possible. */
  enter(action: Foreign): Step | undefined;
}

type Make = (action: Foreign, place: ActionPlace) => Step | undefined;

/** The step of an action; undefined if it has none. */
export function actionStep(action: Foreign, place: ActionPlace): Step | undefined {
  const type = asText(action.type) ?? 'no type';
  if (Object.hasOwn(ACTIONS, type)) return ACTIONS[type]!(action, place);
  const reason = Object.hasOwn(WITHOUT, type) ? WITHOUT[type]! : 'Flows have nothing like it; it is left out.';
  place.context.onNote(place.node, type, reason);
  return undefined;
}

const say: Make = (action, { flow, context, node, next, name }) => {
  const media = ['attachments', 'template', 'templating', 'audio_url'].filter((key) => hasContent(action[key]));
  for (const key of media)
    context.onNote(node, `${action.type}.${key}`, 'A phone menu shows text only; it is left out.');
  const words = translateWords(flow.words(action, 'text'), node, context);
  return { kind: 'say', node, name, said: words, waits: false, next };
};

function hasContent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== null && value !== '';
}

const assign = (values: Values, { node, next, name }: ActionPlace): Step => ({
  kind: 'assign',
  node,
  name: `${name}_set`.slice(0, 60),
  values,
  next,
});

function setShared(kind: 'contact' | 'field', key: string, { text, place }: { text: unknown; place: ActionPlace }) {
  const { context, node } = place;
  const value = translateValue(typeof text === 'string' ? text : '', node, context);
  noteContact(context, node, `${kind === 'field' ? 'set_contact_field' : `set_contact_${key}`} ${key}`);
  return value === undefined ? undefined : assign({ [context.nameShared(kind, key)]: toTextValue(value) }, place);
}

const ACTIONS: { readonly [type: string]: Make } = {
  send_msg: say,
  say_msg: say,
  set_run_result: (action, place) => {
    const { context, node } = place;
    const name = asText(action.name) ?? 'result';
    const value = translateValue(typeof action.value === 'string' ? action.value : '', node, context);
    if (value === undefined) return undefined;
    const category = asText(action.category);
    return assign(
      {
        [context.result(name)]: toTextValue(value),
        ...(category !== undefined &&
          categoryValues(name, { name: category, names: place.flow.words(action, 'category') }, context)),
      },
      place,
    );
  },
  set_contact_field: (action, place) => {
    const field = asObject(action.field);
    const key = asText(field.key) ?? makeKey(asText(field.name) ?? 'field');
    return setShared('field', key, { text: action.value, place });
  },
  set_contact_name: (action, place) => setShared('contact', 'name', { text: action.name, place }),
  set_contact_language: (action, place) => {
    const { flow, context, node } = place;
    const lang = asText(action.language) ?? '';
    if (lang !== '' && !flow.langs.includes(lang))
      context.onNote(
        node,
        `set_contact_language ${lang}`,
        `The flow is not written in it; callers read "${flow.langs[0]}".`,
      );
    context.variables.declare('lang', { type: 'string', default: flow.langs[0]!, max: 20 });
    context.sharedNames.set('contact language', 'lang');
    return assign({ lang: lang || flow.langs[0]! }, place);
  },
  set_run_local: (action, place) => {
    const { context, node } = place;
    const name = context.variables.name(
      `local ${asText(action.local) ?? ''}`,
      `local_${makeName(asText(action.local) ?? '', 'value')}`,
    );
    const value = translateValue(typeof action.value === 'string' ? action.value : '', node, context);
    if (value === undefined) return undefined;
    if (action.operation !== 'increment') return assign({ [name]: toTextValue(value) }, place);
    const more = typeof value === 'string' ? (value.startsWith('=') ? value.slice(1) : value) : String(value);
    return assign({ [name]: `=str((num(${name}) == null ? 0 : num(${name})) + (${more}))` }, place);
  },
  call_webhook: webhookStep,
  enter_flow: (action, place) => place.enter(action),
};

const NO_CONTACTS = 'Flows know no contacts; it is left out.';
const TO_OTHERS = 'A phone menu speaks to its caller only; call a service that sends it. It is left out.';

const WITHOUT: { readonly [type: string]: string } = {
  add_contact_groups: NO_CONTACTS,
  remove_contact_groups: NO_CONTACTS,
  add_contact_urn: NO_CONTACTS,
  set_contact_status: NO_CONTACTS,
  set_contact_timezone: NO_CONTACTS,
  set_contact_channel: NO_CONTACTS,
  add_input_labels: 'Answers have no labels; it is left out.',
  send_email: TO_OTHERS,
  send_broadcast: TO_OTHERS,
  start_session: TO_OTHERS,
  open_ticket: TO_OTHERS,
  request_optin: TO_OTHERS,
  call_resthook: 'Subscribers of a resthook are not in the export; call a service of your own. It is left out.',
  call_classifier: 'Flows do not understand free text; call a service of your own. It is left out.',
  call_llm: 'Flows ask no model; call a service of your own. It is left out.',
  transfer_airtime: 'Call a service of your own that transfers airtime. It is left out.',
  play_audio: 'A phone menu shows text only; it is left out.',
};

/** The call step, and how its outcome sets the result of the action. */
function webhookStep(action: Foreign, { context, node, name, next }: ActionPlace): CallStep | undefined {
  const method = (asText(action.method) ?? 'GET').toUpperCase();
  const request = readRequest(action, method, { language: context, node });
  if (!request) return undefined;
  const service = chooseService(method, { language: context, node });
  const { webhook } = context;
  const result = asText(action.result_name);
  const done: Values = result
    ? {
        [context.result(result)]: `=str(${webhook}.status)`,
        ...categoryValues(result, { name: 'Success', names: {} }, context),
        [context.result(result, 'extra')]: `=${webhook}.body`,
      }
    : {};
  const fail: Values = result
    ? {
        [context.result(result)]: '',
        ...categoryValues(result, { name: 'Failure', names: {} }, context),
        [webhook]: null,
      }
    : { [webhook]: null };
  return {
    kind: 'call',
    node,
    name,
    service,
    with: request,
    save: webhook,
    done: [{ next, ...(result && { set: done }) }],
    fail: [{ next, set: fail }],
  };
}
